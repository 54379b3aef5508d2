"""Every import fixture through the real command line: what expected.json says and what a person can see."""

from __future__ import annotations

import stat
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from cli_rig import FIXTURES, Palace, Shell, files_below
from import_view import CHECKS, EXPECTED, FORMATS, WANTED, View, Whole, is_near, ms_of, path_in

STORED = [ident for ident, want in WANTED.items() if want["outcome"] != "refused"]
REFUSED = [ident for ident, want in WANTED.items() if want["outcome"] == "refused"]
# Fields that tell something about the fixture, and those that a test below or the rig itself is for.
TOLD = {
    "id", "path", "detected_format", "outcome", "notes", "expect", "why", "max_seconds", "time_tolerance_s",
    "encoding", "delimiter",  # seen by the texts being right
    "fifo_name", "setup",  # `path_in` makes the FIFO
    "network_requests",  # any child process that dials ends with code 97
    "after", "append_check",  # tests of their own
    "working_folders",  # belongs to a conversation; no command shows it yet
}  # fmt: skip

# A question in other words than the answer's, and words of the answer.
QUESTIONS = {
    "chatgpt-zip": ("Which dog gets sick in the car?", "Knekkebrød gets carsick"),
    "chatgpt-sharded-zip": ("How long does the sourdough starter Gudrun need to double?", "takes fourteen hours"),
    "claude-zip": ("When may I light the raku kiln?", "Light the raku kiln after one o’clock"),
    "claude-2026-folder": ("Which life vest size does the dog need?", "life jacket"),
    "claude-code": ("How long a gap may be interpolated?", "twenty minutes"),
    "codex": ("How many days of cache files are kept?", "nine"),
    "obsidian-vault": ("Where are the spare keys?", "Spare keys hang behind the tide clock"),
    "mem0-list": ("What is Nerea allergic to?", "hazelnuts"),
    "mem0-results": ("Who has the keys of the repository?", "Bram holds the repository keys"),
    "mem0-wrapped": ("On which day is the sauna?", "Sauna is on Thursdays"),
    "openmemory-zip": ("On which weekday is the timetable released?", "Wednesdays"),
    "mcp-memory": ("How long is quay four?", "thirty-six metres"),
    "generic-jsonl": ("What does the lens weigh?", "four hundred kilos"),
    "generic-utf16": ("Who brings the ladder?", "Øystein brings the ladder"),
    "generic-csv": ("When do the parts for the crane come?", "Parts come on the noon ferry"),
    "hostile-lone-surrogates": ("Which message did my phone cut?", "My phone cut this message"),
    "hostile-nul-bytes": ("Where does the drifted green buoy lie?", "sandbank at Torsholmen"),
    "hostile-nul-escapes": ("When did the gauge restart?", "Gauge restarted"),
    "hostile-wrong-extension": ("When is the flag taken down in November?", "flag lowered in November"),
    "hostile-fifo-folder": ("What needs grease before the winter?", "Grease the winch"),
}
REFUSALS = {"E6001", "E6002"}


@pytest.mark.parametrize("fixture_id", STORED)
def test_a_fixture_comes_in_as_expected(palace: Palace, fixture_id: str) -> None:
    want = WANTED[fixture_id]
    path = path_in(palace, fixture_id)
    before = files_below(path.parent)
    rehearsed = palace.run("--json", "import", str(path), "--dry-run").document
    # The limit is the fixture's own, for the whole command with its start.
    report = palace.run("--json", "import", str(path), timeout_s=want.get("max_seconds", 120)).document
    assert report == {**rehearsed, "import_id": report["import_id"]}
    assert rehearsed["import_id"] is None
    assert report["format"] == FORMATS.get(want["detected_format"], want["detected_format"])
    assert bool(report["errors"]) == (want["outcome"] == "stored_with_errors")
    # The rest through an engine that runs: each command is as real, and a tenth of the time.
    with palace.serving(), palace.shell() as shell:
        view = View(want, shell, report)
        assert set(want) - TOLD - set(CHECKS) == set()
        for check in dict.fromkeys(CHECKS[name] for name in want if name in CHECKS):
            check(view)
        _common(view)
        _asks(view)
        _comes_in_once(view, path)
        _goes_again(view)
    assert files_below(path.parent) == before


def _common(view: View) -> None:
    """What holds for every memory, whatever the fixture."""
    for item in view.items:
        assert item["import_id"] == view.report["import_id"]
        assert (item["space"], item["client"], item["score"]) == ("home", None, None)
        assert 0 <= item["trust"] == item["confidence"] <= 0.7  # design section 4: never the owner's word
        wanted = {"user": "user_implicit", "source": "document"}.get(item["role"], item["source"])
        assert item["source"] == wanted
        assert item["source"] in ("user_implicit", "inference", "document")
        assert item["occurred_at"] is None or item["occurred_at"].endswith("Z")
    assert view.shell.json("list", "--import", view.report["import_id"], "--status", "all")["total"] == len(view.items)


def _asks(view: View) -> None:
    question, answer = QUESTIONS[view.want["id"]]
    found = view.shell.json("recall", question, "--limit", "5")
    assert found["abstained"] is False
    assert any(answer in item["text"] for item in found["items"]), [item["text"][:80] for item in found["items"]]


def _comes_in_once(view: View, path: Path) -> None:
    again = view.shell.json("import", str(path))
    assert (again["stored"], again["proposals"]) == (0, 0)
    assert again["skipped"] == {**view.report["skipped"], "known": view.report["stored"]}
    now = view.shell.json("list", "--status", "all", "--limit", "1000000")["items"]
    assert [item["id"] for item in now] == [item["id"] for item in view.items]


def _goes_again(view: View) -> None:
    """`unimport` removes exactly what came, and leaves what was there."""
    kept = view.shell.json("remember", "This sentence was here before the import went.")["memory_id"]
    gone = view.shell.json("unimport", view.report["import_id"])
    assert gone["left"] == []
    left = view.shell.json("list", "--status", "all", "--limit", "1000000")["items"]
    assert [item["id"] for item in left] == [kept]
    assert view.shell.json("verify")["status"] == "ok"


@pytest.mark.parametrize("fixture_id", REFUSED)
def test_a_hostile_file_is_refused_and_leaves_nothing(palace: Palace, fixture_id: str) -> None:
    want = WANTED[fixture_id]
    path = path_in(palace, fixture_id)
    home = palace.home.name + "/"

    def outside() -> dict[str, tuple[int, bytes | None]]:
        found = files_below(palace.folder)
        return {name: value for name, value in found.items() if not (name + "/").startswith(home)}

    before, seq = outside(), palace.json("status")["seq"]
    refused = palace.run("--json", "import", str(path), timeout_s=want["max_seconds"])
    sentence = refused.refused(1, refused.err.partition(":")[0])
    assert refused.err.partition(":")[0] in REFUSALS
    assert len(refused.err.splitlines()) == 1
    assert path.name in sentence  # expected.json: an error that names the file and the trouble
    assert outside() == before
    with palace.shell() as shell:
        status = shell.json("status")
        assert (status["seq"], status["imports"], status["memories"]["total"]) == (seq, {}, want["stored_items"])
        for phrase in want.get("must_not_store", ()):
            assert phrase not in refused.err
            assert shell.json("list", "--status", "all", "--text", phrase)["total"] == 0
        # The program goes on.
        shell.json("remember", "Everything is fine.")
    if "must_not_exist_after" in want:
        assert not list(palace.folder.rglob(Path(want["entry"]).name))


def test_a_zip_bomb_is_refused_without_much_memory(palace: Palace) -> None:
    want = WANTED["hostile-zip-bomb"]
    path = path_in(palace, "hostile-zip-bomb")
    harmless = path.parent / "harmless.json"
    harmless.write_text("", encoding="utf-8")
    with palace.shell() as shell:
        shell.run("import", str(harmless)).refused(1, "E6001")
        before = shell.peak_mb
        assert shell.run("import", str(path)).code == 1
        assert shell.peak_mb - before <= want["max_extra_memory_mb"]


def test_a_later_export_adds_only_what_is_new(palace: Palace) -> None:
    want = WANTED["chatgpt-sharded-zip"]["after"]
    with palace.shell() as shell:
        shell.json("import", str(path_in(palace, want["fixture"])))
        old = View(WANTED[want["fixture"]], shell, {})
        later = palace.folder / "later.zip"
        later.write_bytes(_source("chatgpt-sharded-zip").read_bytes())
        report = shell.json("import", str(later))
        new = View(WANTED["chatgpt-sharded-zip"], shell, report)
    was = {record.item["id"] for record in old.records}
    added = [record for record in new.chat if record.item["id"] not in was]
    assert len(new.conversations()) - len(old.conversations()) == want["new_conversations"]
    roles = [record.item["role"] for record in added]
    assert (roles.count("user"), roles.count("assistant")) == (
        want["new_user_messages"],
        want["new_assistant_messages"],
    )
    assert report["stored"] == len(added)
    # The conversation that goes on is one conversation, in order.
    (longer,) = [group for group in new.conversations() if _ids(group) & was and not _ids(group) <= was]
    assert [record.item["position"] for record in longer] == list(range(len(longer)))


def _ids(group: list[Whole]) -> set[str]:
    return {record.item["id"] for record in group}


def _source(fixture_id: str) -> Path:
    return FIXTURES / str(WANTED[fixture_id]["path"])


def test_a_session_that_goes_on_adds_its_new_message(palace: Palace) -> None:
    want = WANTED["claude-code"]["append_check"]
    path = path_in(palace, "claude-code")
    with palace.shell() as shell:
        first = shell.json("import", str(path))
        old = {item["id"] for item in shell.json("list", "--status", "all", "--limit", "1000")["items"]}
        session = path / want["file"]
        session.chmod(session.stat().st_mode | stat.S_IWUSR)
        with session.open("a", encoding="utf-8") as file:
            file.write(want["append"])
        again = shell.json("import", str(path))
        assert again["stored"] == sum(want["adds"].values())
        new = [i for i in shell.json("list", "--status", "all", "--limit", "1000")["items"] if i["id"] not in old]
        assert [item["role"] for item in new] == ["assistant"] * want["adds"]["assistant_messages"]
        for phrase in want["must_find"]:
            assert shell.json("list", "--text", phrase)["total"] == 1
        times = [
            item["occurred_at"]
            for item in shell.json("list", "--limit", "1000")["items"]
            if item["session"] == session.stem
        ]
        assert is_near(max(times, key=ms_of), want["latest_in_session"])
        # Each import takes back its own and nothing else.
        shell.json("unimport", again["import_id"])
        assert {item["id"] for item in shell.json("list", "--limit", "1000")["items"]} == old
        assert first["stored"] == len(old)


def test_the_fixtures_are_intact_and_all_are_asked() -> None:
    assert set(QUESTIONS) == set(STORED)
    assert len(STORED) + len(REFUSED) == len(EXPECTED["fixtures"])
    for path, row in EXPECTED["files"].items():
        data = (FIXTURES / path).read_bytes()
        assert (len(data), sha256(data).hexdigest()) == (row["bytes"], row["sha256"]), path


def test_two_imports_stand_side_by_side(palace: Palace) -> None:
    """Taking one back leaves the other and what was remembered by hand."""
    with palace.shell() as shell:
        one = _imported(shell, "mem0-results")
        two = _imported(shell, "mem0-wrapped")
        by_hand = shell.json("remember", "Rosa keeps bees behind the shed.")["memory_id"]
        shell.json("unimport", one["import_id"])
        left = shell.json("list", "--status", "all")["items"]
        assert {item["import_id"] for item in left} == {two["import_id"], None}
        assert by_hand in {item["id"] for item in left}
        # What was taken back may come again.
        assert _imported(shell, "mem0-results")["stored"] == one["stored"]


def _imported(shell: Shell, fixture_id: str) -> dict[str, Any]:
    return shell.json("import", str(_source(fixture_id)))
