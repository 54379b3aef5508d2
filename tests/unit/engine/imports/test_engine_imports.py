"""Imports through the engine: rehearsed, stored in batches, cancelled, refused half-way, brought twice."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from engine_rig import MARKER, START_MS, HandClock, Rig, differences, error_of, facts, refused, rig_at, talk

from core.config.options import Options
from core.engine.health import health_report
from core.errors import Code
from core.importers.detect import detect_format
from core.importers.dry_run import import_items
from core.importers.input.source import open_bundle
from core.importers.records import Record
from core.intake.store.import_batch import identity_digest
from core.intake.transitions.merge import write_merge
from core.types.clock import ManualClock
from core.types.replies import ImportReport
from core.types.requests import StoreRequest
from core.types.values import OWNER_ACTOR, Kind, Precision, Role, Source, Status, When

LONG = "".join(f"Sentence {n} of the long letter. " for n in range(2000))


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path) as rig:
        rig.opened.options = Options(import_batch=8)
        yield rig


def rehearse(rig: Rig, path: Path, space: str | None = None) -> ImportReport:
    return rig.engine.imports.rehearse(path, None, OWNER_ACTOR, space).result(30)


def states(rig: Rig) -> list[str]:
    return [row[0] for row in rig.rows("SELECT state FROM imports ORDER BY rowid")]


def test_messages_become_verbatim_episodes_with_their_place(rig: Rig) -> None:
    report = rig.bring(talk(20, "trip"))
    assert (report.format, report.stored, report.conversations) == ("jsonl", 20, 1)
    assert report.messages == {"user": 10, "assistant": 10, "other": 0}
    assert (report.earliest, report.latest) == ("2024-03-01T10:00:00.000Z", "2024-03-20T10:00:00.000Z")
    ((memory_id,),) = rig.rows("SELECT id FROM memories WHERE position = 3")
    memory = rig.get(memory_id)
    assert (memory.kind, memory.role, memory.source) == (Kind.EPISODE, Role.ASSISTANT, Source.INFERENCE)
    assert (memory.text, memory.ref, memory.session) == (talk(20, "trip")[3]["text"], "trip-3", "trip")
    assert memory.occurred == When(1_709_546_400_000, Precision.SECOND, 0)
    assert (memory.import_id, memory.recorded_at, memory.status) == (report.import_id, START_MS, Status.ACTIVE)
    detail = rig.engine.memories.show(memory_id, OWNER_ACTOR).result(10)
    assert [near["position"] for near in detail.conversation["neighbours"]] == [1, 2, 4, 5]
    assert detail.origin["file"] == "rows.jsonl"
    assert rig.found("garden number7", limit=1) == [talk(20, "trip")[7]["text"]]


def test_a_person_s_message_is_trusted_more_than_an_assistant_s(rig: Rig) -> None:
    rig.bring([{**row, "time": "2023-11-14"} for row in talk(2)])
    trusts = rig.rows("SELECT role, round(trust, 2) FROM memories ORDER BY n")
    assert trusts == [("user", 0.7), ("assistant", 0.5)]


def test_a_rehearsal_counts_and_writes_nothing(rig: Rig) -> None:
    rows = [*talk(20), *facts(3), {"no text": 1}]
    path = rig.write_rows(rows)
    before, seq = rig.dump(), rig.opened.storage.vault.seq
    preview = rehearse(rig, path)
    assert (preview.import_id, preview.stored, preview.conversations) == (None, 23, 1)
    assert (rig.dump(), rig.opened.storage.vault.seq, states(rig)) == (before, seq, [])
    done = rig.bring(path)
    assert (done.stored, done.messages, done.skipped) == (preview.stored, preview.messages, {"no_text": 1})
    again = rehearse(rig, path)
    assert (again.stored, again.skipped) == (0, {"no_text": 1, "known": 23})
    assert rehearse(rig, path, "Elsewhere").stored == 23


def test_bringing_the_same_again_changes_nothing(rig: Rig) -> None:
    rows = [*talk(20), *facts(5)]
    rig.bring(rows)
    before = rig.dump()
    again = rig.bring(rows, name="copy.jsonl")
    assert (again.stored, again.skipped) == (0, {"known": 25})
    assert differences(before, rig.dump()) == {}


def test_a_longer_export_brings_only_what_is_new(rig: Rig) -> None:
    rig.bring(talk(10, "chat"))
    more = rig.bring(talk(16, "chat"))
    assert (more.stored, more.skipped) == (6, {"known": 10})
    assert rig.rows("SELECT count(*), count(DISTINCT conversation_id) FROM memories") == [(16, 1)]
    assert rig.texts() == [row["text"] for row in talk(16, "chat")]


def test_rows_may_name_their_space(rig: Rig) -> None:
    rows = [
        {"text": "one", "space": "Work"},
        {"text": "two", "space": "Attic"},
        {"text": "three"},
        {"text": "four", "space": "a\nb"},
        {"text": "five", "space": "x" * 200},
    ]
    rig.bring(rows, space="Trip")
    spaces = {name: set(rig.texts(space=name)) for name in ("Work", "Attic", "Trip")}
    assert spaces == {"Work": {"one"}, "Attic": {"two"}, "Trip": {"three", "four", "five"}}
    ((flags,),) = rig.rows("SELECT flags FROM memories WHERE text = 'four'")
    assert json.loads(flags) == ["space_unusable"]


def test_the_same_export_may_go_into_two_spaces(rig: Rig) -> None:
    rig.bring(talk(4), space="A")
    assert rig.bring(talk(4), space="B").stored == 4
    assert rig.value("SELECT count(*) FROM conversations") == 2
    assert rig.bring(talk(4), space="A").stored == 0


def test_a_bad_space_is_refused_before_anything_is_read(rig: Rig) -> None:
    future = rig.engine.imports.run(rig.write_rows(talk(2)), None, "a\nb", OWNER_ACTOR)
    assert error_of(future).code is Code.INVALID_INPUT
    assert states(rig) == []


@pytest.mark.slow
def test_a_long_text_is_split_and_joins_to_the_same(rig: Rig) -> None:
    report = rig.bring([*talk(3), {"text": LONG, "session": "s", "author": "user"}, *facts(2)])
    assert report.stored == 6
    parts = rig.rows("SELECT text, part_of, part_index, position FROM memories WHERE part_of IS NOT NULL ORDER BY n")
    assert "".join(part[0] for part in parts) == LONG
    assert len({part[1] for part in parts}) == 1
    assert [part[2] for part in parts] == list(range(len(parts)))
    assert {part[3] for part in parts} == {3}
    assert rig.value("SELECT count(*) FROM embeddings") == rig.value("SELECT count(*) FROM memories")


@pytest.mark.slow
def test_a_batch_has_no_more_rows_than_it_may(rig: Rig) -> None:
    two = "".join(f"Line {n} of a text in two parts. " for n in range(400))
    rig.bring([*talk(11), *[{"text": f"{n} {two}"} for n in range(7)], *talk(5, "t")])
    batches = [row[0] for row in rig.rows("SELECT count(*) FROM embeddings GROUP BY rev ORDER BY rev")]
    assert sum(batches) == 30
    assert max(batches) <= 8
    assert Options.model_fields["import_batch"].metadata[1].le == 500


@pytest.mark.slow
def test_one_text_of_very_many_parts_stays_in_one_piece(rig: Rig) -> None:
    rig.bring([{"text": "a"}, {"text": LONG * 2}, {"text": "b"}])
    batches = [row[0] for row in rig.rows("SELECT count(*) FROM embeddings GROUP BY rev ORDER BY rev")]
    assert batches[0] == batches[2] == 1
    assert batches[1] > 8


def test_facts_confirm_each_other_and_episodes_do_not(rig: Rig) -> None:
    rows: list[dict[str, Any]] = [
        {"text": "The roof is red", "kind": "fact", "session": "a"},
        {"text": "The roof is red", "kind": "fact", "session": "b"},
        {"text": "The roof is red", "kind": "fact", "session": "b", "ref": "again"},
        {"text": "Good morning", "session": "a"},
        {"text": "Good morning", "session": "b"},
    ]
    report = rig.bring(rows)
    assert (report.stored, report.skipped) == (3, {"duplicate_text": 2})
    assert rig.rows("SELECT text, corroboration FROM memories ORDER BY n") == [
        ("The roof is red", 2),
        ("Good morning", 1),
        ("Good morning", 1),
    ]
    assert rig.value("SELECT count(*) FROM fingerprints") == 5


def test_claims_of_rows_are_compared_and_hold(rig: Rig) -> None:
    claim = {"subject": "Ada", "predicate": "lives_in", "value": "Graz"}
    rig.bring(
        [
            {"text": "Ada moved", "kind": "fact", "claim": claim, "valid_from": "2024-05", "valid_to": "2023"},
            {"text": "Ada moved on", "kind": "fact", "claim": {**claim, "valid_from": "2025"}},
            {"text": "Bad claim", "kind": "fact", "claim": {"subject": "\ud800"}},
            {"text": "Ada moved", "kind": "fact", "claim": {**claim, "predicate": "moved_to"}, "ref": "twin"},
        ]
    )
    found = rig.rows("SELECT predicate, valid_from_prec, state, evidence_count FROM claims ORDER BY rowid")
    assert found == [
        ("lives_in", None, "asserted", 1),
        ("lives_in", "year", "draft", 1),
        ("moved_to", None, "asserted", 1),
    ]
    # The second says no more than the first: it lies beneath it.
    assert rig.texts() == ["Ada moved", "Bad claim"]
    assert rig.texts(statuses=("consolidated",)) == ["Ada moved on"]
    assert json.loads(rig.value("SELECT flags FROM memories ORDER BY n LIMIT 1")) == ["validity_unusable"]


def test_progress_rises_to_the_whole(tmp_path: Path) -> None:
    with rig_at(tmp_path, clock=HandClock(START_MS)) as rig:
        rig.opened.options = Options(import_batch=5)
        told: list[tuple[int, int | None]] = []
        rig.engine.imports.run(
            rig.write_rows(talk(40)), None, None, OWNER_ACTOR, lambda done, total: told.append((done, total))
        ).result(30)
        stored = [pair for pair in told if pair[1] is not None]
        assert stored[-1] == (40, 40)
        assert stored == sorted(stored)


def test_a_clock_that_stands_still_hears_only_of_the_end(tmp_path: Path) -> None:
    with rig_at(tmp_path, clock=ManualClock(START_MS)) as rig:
        rig.opened.options = Options(import_batch=5)
        told: list[tuple[int, int | None]] = []
        rig.engine.imports.run(
            rig.write_rows(talk(40)), None, None, OWNER_ACTOR, lambda done, total: told.append((done, total))
        ).result(30)
        assert told == [(0, None), (40, 40)]


class StopAfter:
    """Wants an import stopped once so many rows are in the vault."""

    def __init__(self, rig: Rig, rows: int) -> None:
        self.rig, self.rows = rig, rows

    def __call__(self) -> bool:
        return bool(self.rig.value("SELECT count(*) >= ? FROM memories", self.rows))


@pytest.mark.slow
@pytest.mark.parametrize("after", [0, 1, 8, 17, 39])
def test_a_cancelled_import_leaves_no_row(rig: Rig, after: int) -> None:
    rig.store("Mine")
    before = rig.dump()
    rows = [*talk(30), *[{**row, "space": "Attic"} for row in facts(10)], {"text": "Mine", "kind": "fact"}]
    future = rig.engine.imports.run(rig.write_rows(rows), None, None, OWNER_ACTOR, None, StopAfter(rig, after + 1))
    assert error_of(future).code is Code.CANCELLED
    assert differences(before, rig.dump()) == {}
    assert set(states(rig)) <= {"undone"}
    assert rig.engine.imports.count_interrupted() == 0
    assert rig.value("SELECT count(*) FROM undo_steps WHERE is_open = 1") == 0
    assert rig.bring(rows).stored == 40
    assert rig.verify()["status"] == "ok"


def test_a_rehearsal_can_be_cancelled(rig: Rig) -> None:
    future = rig.engine.imports.rehearse(rig.write_rows(talk(300)), None, OWNER_ACTOR, None, None, lambda: True)
    assert error_of(future).code is Code.CANCELLED
    assert states(rig) == []


@pytest.mark.slow
def test_a_file_that_changes_while_it_is_read_leaves_nothing(rig: Rig) -> None:
    path = rig.write_rows({**row, "text": f"{row['text']} {'and so on ' * 300}"} for row in talk(400))
    before = rig.dump()
    meddled: list[int] = []

    def meddle() -> bool:
        # In the second reading, when a part of it is stored.
        if not meddled and rig.value("SELECT count(*) > 20 FROM memories"):
            meddled.append(1)
            path.write_text(path.read_text().replace("and so on and", f"{MARKER[:9]} and"))
        return False

    future = rig.engine.imports.run(path, None, None, OWNER_ACTOR, None, meddle)
    error = error_of(future)
    assert (error.code, meddled) == (Code.IMPORT_CHANGED, [1])
    assert MARKER not in str(error)
    assert differences(before, rig.dump()) == {}
    assert states(rig) == ["undone"]


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", Code.IMPORT_REFUSED),
        (b"\0\1\2" * 99, Code.IMPORT_UNKNOWN_FORMAT),
        (b'{"a": NaN}', None),
        (None, Code.IMPORT_REFUSED),
    ],
)
def test_a_refused_file_leaves_nothing(rig: Rig, content: bytes | None, code: Code | None) -> None:
    path = rig.folder / "bad.bin"
    if content is not None:
        path.write_bytes(content)
    before = rig.dump()
    error = error_of(rig.engine.imports.run(path, None, None, OWNER_ACTOR))
    assert error.code in {code} if code else {Code.IMPORT_REFUSED, Code.IMPORT_UNKNOWN_FORMAT}
    assert str(rig.folder) not in str(error)
    assert (rig.dump(), states(rig)) == (before, [])


def test_an_unknown_format_is_refused(rig: Rig) -> None:
    future = rig.engine.imports.run(rig.write_rows(talk(2)), "nonsense", None, OWNER_ACTOR)
    assert error_of(future).code in {Code.IMPORT_UNKNOWN_FORMAT, Code.INVALID_INPUT}


def test_only_the_owner_imports(rig: Rig) -> None:
    writer = rig.client("Claude", "read", "write", "curate", "all_spaces")
    path = rig.write_rows(talk(2))
    with refused(Code.ACCESS_DENIED):
        rig.engine.imports.run(path, None, None, writer)
    with refused(Code.ACCESS_DENIED):
        rig.engine.imports.rehearse(path, None, writer)


@pytest.mark.slow
def test_imports_wait_for_each_other_and_a_store_waits_for_none(rig: Rig) -> None:
    rig.opened.options = Options(import_batch=2)
    one = rig.engine.imports.run(rig.write_rows(talk(60, "a"), "a.jsonl"), None, None, OWNER_ACTOR)
    two = rig.engine.imports.run(rig.write_rows(talk(60, "b"), "b.jsonl"), None, None, OWNER_ACTOR)
    stored = [rig.engine.memories.store(StoreRequest(f"In between, number {n}"), OWNER_ACTOR) for n in range(10)]
    assert all(future.result(30).operation == "ADD" for future in stored)
    assert (one.result(60).stored, two.result(60).stored) == (60, 60)
    assert rig.value("SELECT count(*) FROM memories") == 130
    assert rig.verify()["status"] == "ok"


def test_an_import_is_one_step_and_one_audit_row_a_batch(rig: Rig) -> None:
    rig.bring(talk(20))
    assert rig.rows("SELECT verb, label, is_open FROM undo_steps") == [("import", "Import memories", 0)]
    phases = [json.loads(row[0])["phase"] for row in rig.rows("SELECT detail FROM audit ORDER BY nr")]
    assert phases == ["begin", "batch", "batch", "batch", "end"]


def test_nothing_of_the_file_s_place_leaves_the_vault(rig: Rig) -> None:
    rig.bring(talk(3), name=f"{MARKER}.jsonl")
    ((label, location),) = rig.rows("SELECT label, location FROM imports")
    assert (label, Path(location)) == (f"{MARKER}.jsonl", rig.folder / f"{MARKER}.jsonl")
    log = rig.home.logs / "loci.log"
    assert not log.exists() or MARKER not in log.read_text()
    assert MARKER not in repr(rig.rows("SELECT * FROM audit")) + repr(rig.rows("SELECT label FROM undo_steps"))


def test_a_path_that_is_no_text_can_be_imported(rig: Rig) -> None:
    path = Path(os.fsdecode(bytes(rig.folder) + b"/caf\xe9.jsonl"))
    path.write_text(json.dumps({"text": "One row"}) + "\n")
    assert rig.bring(path).stored == 1


@pytest.mark.slow
def test_a_rehearsal_counts_as_the_import_will(rig: Rig) -> None:
    rig.store("Dogs bark.")
    rows = [
        *({"text": text, "kind": "fact"} for text in ("Cats purr.", "Cats purr.", "Dogs bark.", LONG, LONG)),
        {"text": "Cats purr.", "kind": "fact", "space": "Work"},
        {"text": "Cats purr.", "kind": "rule"},
        *talk(3),
    ]
    path = rig.write_rows(rows)
    for _ in range(2):
        preview = rehearse(rig, path)
        done = rig.bring(path)
        assert (preview.stored, preview.proposals, preview.skipped) == (done.stored, done.proposals, done.skipped)
    assert rig.value("SELECT count(*) FROM memories WHERE part_index IS NULL OR part_index = 0") == 8


def test_a_rehearsal_leaves_out_what_was_erased(rig: Rig) -> None:
    path = rig.write_rows(facts(2))
    with open_bundle(path) as bundle:
        (first, *_) = (item for item in import_items(bundle, detect_format(bundle, None)) if isinstance(item, Record))
    gone = {"digest": identity_digest("home", first.identity), "kind": "identity", "erased_at": START_MS}
    rig.write(lambda tx: tx.insert("tombstones", gone))
    preview, done = rehearse(rig, path), rig.bring(path)
    assert (preview.stored, preview.skipped) == (done.stored, done.skipped)
    assert done.skipped["erased"] == 1


def test_a_space_an_import_made_goes_with_it(rig: Rig) -> None:
    spaces = "SELECT name FROM spaces ORDER BY name"
    before = rig.rows(spaces)
    report = rig.bring(facts(2), space="Work")
    assert ("Work",) in rig.rows(spaces)
    undone = rig.unimport(report.import_id)
    assert (rig.rows(spaces), undone.left) == (before, ())
    rig.undo(undone.undo_step_id)
    assert len(rig.texts(space="Work")) == 2
    rig.store("Mine now", space="Work")
    rig.unimport(report.import_id)
    assert rig.texts(None, space="Work") == ["Mine now"]


def test_a_row_s_deceiving_space_falls_back_and_is_flagged(rig: Rig) -> None:
    rig.bring([{"text": "Hello there", "kind": "fact", "space": "a\u202eb"}])
    assert rig.rows("SELECT s.name, m.flags FROM memories m JOIN spaces s ON s.id = m.space_id") == [
        ("home", '["space_unusable"]')
    ]


@pytest.mark.slow
def test_a_rehearsal_counts_proposals_out_that_are_known(rig: Rig) -> None:
    export = min((Path(__file__).parents[3] / "fixtures" / "imports" / "chatgpt").glob("*.zip"))
    for fresh in (True, False):
        preview, done = rehearse(rig, export), rig.bring(export)
        assert (preview.stored, preview.proposals, preview.skipped) == (done.stored, done.proposals, done.skipped)
        assert (done.proposals > 0) is fresh


def health_counts(rig: Rig) -> Mapping[str, int]:
    return rig.opened.storage.vault.read(lambda rows: health_report(rig.opened, rows)).counts


def test_the_status_counts_what_the_import_told(rig: Rig) -> None:
    report = rig.bring([{"text": LONG}, {"text": "A short one."}])
    assert len(rig.rows("SELECT id FROM memories")) > report.stored == 2
    told = rig.engine.vault.read_status().result(30).values["memories"]
    assert told == {"total": 2, "by_status": {"active": 2}, "by_kind": {"episode": 2}}
    assert health_counts(rig)["episodes"] == 2
    assert rig.engine.vault.read_status(brief=True).result(30).values["memories"]["total"] == 2


def test_the_status_counts_two_memories_that_were_merged_as_two(rig: Rig) -> None:
    kept, other = (rig.store(text, space="home").memory_id for text in ("The kelp farm uses Python.", "It has a pump."))
    ids = iter(["018bd50b-0000-7000-8000-000000000001"])
    rig.write(lambda tx: write_merge(tx, lambda: next(ids), kept, "The kelp farm uses Python and has a pump.", other))
    told = rig.engine.vault.read_status().result(30).values["memories"]
    assert told == {"total": 2, "by_status": {"active": 1, "superseded": 1}, "by_kind": {"fact": 2}}
    assert health_counts(rig)["facts"] == 2
    assert rig.engine.vault.read_status(brief=True).result(30).values["memories"]["total"] == 2


# --- when it was said


def test_each_dated_section_of_a_note_is_stored_with_its_own_time(rig: Rig, tmp_path: Path) -> None:
    vault = tmp_path / "notes"
    vault.mkdir()
    days = "## 2026-02-03\nThe crane stood still.\n\n## 2026-02-10\nThe crane ran again.\n"
    text = f"# Port log\n\n{days}# Later\nPaint it.\n"
    (vault / "log.md").write_text(text, encoding="utf-8")
    (vault / "2026-02-14.md").write_text("Fog over the quay.", encoding="utf-8")
    (vault / "February 2026.md").write_text("A cold month on the quay.", encoding="utf-8")
    (vault / "plain.md").write_text("The slipway needs a winch.", encoding="utf-8")
    report = rig.bring(vault)
    assert (report.stored, report.latest) == (4, "2026-02-14T00:00:00.000Z")
    found = rig.rows("SELECT text, occurred_at, occurred_prec, part_index FROM memories ORDER BY n")
    day = 86_400_000
    third = 1_770_076_800_000
    assert found == [
        ("Fog over the quay.", third + 11 * day, "day", None),
        ("A cold month on the quay.", third - 2 * day, "month", None),
        ("# Port log\n\n## 2026-02-03\nThe crane stood still.\n\n", third, "day", 0),
        ("## 2026-02-10\nThe crane ran again.\n", third + 7 * day, "day", 1),
        ("# Later\nPaint it.\n", None, None, 2),
        ("The slipway needs a winch.", None, None, None),
    ]
    again = rig.bring(vault)
    assert (again.stored, again.skipped) == (0, {"known": 4})
