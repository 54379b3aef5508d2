"""The verbs of the command line, their JSON, flags and words, as design section 8 fixes them."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cli_rig import FIXTURES, MINUTE_S, Palace, Shell
from contract_shapes import (
    check_import,
    check_item,
    check_recall,
    check_shown,
    check_stored,
    check_verified,
    is_id,
    is_number,
    is_time,
)
from warm_start import Forked

VERBS = {
    "demo", "init", "serve", "import", "unimport", "remember", "recall", "context", "list", "show", "history", "forget",
    "undo",
    "clients", "pair", "grant", "revoke", "status", "verify", "lock", "unlock", "backup", "restore", "bench",
    "conflicts", "resolve", "confirm", "dispute", "reinforce",
}  # fmt: skip
BOAT = "The boat's mooring at quay four is paid until March."
SHIFTED = "The oven in the studio runs nine degrees hot."
CLAIM = {"subject": "user", "predicate": "lives_in", "value": "Bergen"}


def remembered(shell: Shell, *arguments: str) -> str:
    reply = shell.json("remember", *arguments)
    check_stored(reply)
    return str(reply["memory_id"])


def test_every_verb_of_this_issue_exists_and_explains_itself(palace: Palace) -> None:
    told = palace.bare("--help")
    assert told.code == 0
    listed = {line.split()[0] for line in told.out.partition("Commands:")[2].splitlines() if line.strip()}
    assert listed >= VERBS
    with palace.shell() as shell:
        for verb in sorted(VERBS):
            helped = shell.run(verb, "--help")
            assert helped.code == 0
            assert helped.out.startswith(f"Usage: loci {verb} ")


def test_json_stands_before_or_after_the_verb(palace: Palace) -> None:
    palace.json("remember", BOAT)
    before, after = palace.run("--json", "list"), palace.run("list", "--limit", "5", "--json")
    assert before.document == after.document
    assert (before.err, after.err) == ("", "")
    assert palace.run("list").out.splitlines()[-1] == "1 of 1."
    # What follows -- is a text, whatever it looks like.
    assert palace.json("remember", "--", "--json is a flag of the command line.")["operation"] == "ADD"


def test_flags_stand_anywhere_behind_the_verb(palace: Palace) -> None:
    with palace.shell() as shell:
        one = remembered(shell, "--kind", "episode", BOAT, "--importance", "0.25", "--category", "boats")
        two = remembered(shell, SHIFTED, "--kind", "rule", "--space", "studio", "--source", "document")
        found = {item["id"]: item for item in shell.json("list", "--limit", "5")["items"]}
    assert (found[one]["kind"], found[one]["importance"], found[one]["category"]) == ("episode", 0.25, "boats")
    assert (found[one]["space"], found[one]["source"]) == ("home", "user_explicit")
    assert (found[two]["kind"], found[two]["space"], found[two]["source"]) == ("rule", "studio", "document")


def test_remember_answers_in_its_shape(palace: Palace) -> None:
    with palace.shell() as shell:
        first = shell.json("remember", BOAT, "--claim", json.dumps(CLAIM))
        check_stored(first)
        assert (first["operation"], first["deduplicated"], first["conflict"]) == ("ADD", False, None)
        again = shell.json("remember", BOAT)
        check_stored(again)
        assert (again["operation"], again["deduplicated"], again["memory_id"]) == ("NOOP", True, first["memory_id"])
        assert shell.json("list")["total"] == 1
        shown = shell.json("show", first["memory_id"])
        check_shown(shown)
        assert (shown["kind"], shown["space"], shown["source"], shown["status"]) == (
            "fact", "home", "user_explicit", "active",
        )  # fmt: skip
        assert shown["trust"] == shown["confidence"] == 1.0  # the owner's word
        (claim,) = shown["claims"]
        assert {name: claim[name] for name in CLAIM} == CLAIM
        assert shown["corroboration"] == 1  # saying it twice is not a second source
        assert sum(term["value"] for term in shown["trust_terms"] if term["term"] != "trust") == pytest.approx(1.0)


def test_remember_refuses_what_it_cannot_keep(palace: Palace) -> None:
    with palace.shell() as shell:
        for arguments in (
            ("",),
            (" \t\n ",),
            (BOAT, "--importance", "1.01"),
            (BOAT, "--importance", "-0.1"),
            (BOAT, "--importance", "nan"),
            (BOAT, "--time", "the day before"),
            (BOAT, "--claim", "{"),
            (BOAT, "--claim", "[]"),
            (BOAT, "--claim", '{"subject": "user"}'),
            (BOAT, "--space", ""),
            ("a byte that is no UTF-8: \udcff",),
        ):
            sentence = shell.run("--json", "remember", *arguments).refused(2, "E4005")
            assert BOAT not in sentence
        assert shell.json("list", "--status", "all")["total"] == 0
    palace.run("--json", "remember", "a byte that is no UTF-8: \udcff").refused(2, "E4005")


def test_nothing_is_cut_and_nothing_is_changed(palace: Palace) -> None:
    """Long and odd texts come back letter by letter; 8 KiB binds clients, not the owner."""
    odd = "  two leading blanks, Å as two signs, שלום, e\u0301, \u202eturned\u202c,\r\n\ttab and 👨‍👩‍👧\n"
    long = "The lamp was lit by hand every night of that winter. " * 400
    with palace.shell() as shell:
        for text in (odd, long):
            shown = shell.json("show", remembered(shell, text))
            parts = shown["provenance"]["parts"] or [shown["id"]]
            assert "".join(shell.json("show", part)["text"] for part in parts) == text
        plain = shell.run("show", shell.json("list", "--text", "two leading blanks")["items"][0]["id"]).out
    # On the terminal, what could steer it is shown as codes.
    assert "\u202e" not in plain
    assert "<U+202E>" in plain


def test_recall_answers_in_its_shape(palace: Palace) -> None:
    with palace.shell() as shell:
        empty = shell.json("recall", "anything at all")
        check_recall(empty)
        assert (empty["items"], empty["abstained"]) == ([], True)
        boat = remembered(shell, BOAT)
        for number in range(6):
            remembered(shell, f"The kiln was fired for the {number + 2}th time, and pot {number} came out cracked.")
        plain = shell.json("recall", "when is the mooring due?")
        check_recall(plain)
        assert plain["items"][0]["id"] == boat
        assert plain["items"][0]["text"] == BOAT
        explained = shell.json("recall", "when is the mooring due?", "--explain", "--limit", "1")
        check_recall(explained, explained=True)
        assert [item["id"] for item in explained["items"]] == [boat]
        kiln = shell.json("recall", "Which pot came out of the kiln cracked?", "--limit", "3")
        assert len(kiln["items"]) == 3
        nothing = shell.json("recall", "password rotation of the Kubernetes cluster", "--explain")
        check_recall(nothing, explained=True)
        assert nothing["items"] == []
        assert nothing["reason"].endswith(".")
        words = shell.run("recall", "password rotation of the Kubernetes cluster", "--explain")
        assert (words.code, words.out.splitlines()[0][:14]) == (0, "Nothing found:")
        shell.run("recall", " ").refused(2, "E2004")


def test_recall_tells_how_it_understood_and_takes_another_reading(palace: Palace) -> None:
    with palace.shell() as shell:
        remembered(shell, BOAT)
        remembered(shell, "At Harbour the crane was mended.", "--time", "2026-05-06T12:00")

        def asked(*arguments: str) -> dict[str, Any]:
            found = shell.json("recall", "Why was the crane at Harbour mended last week?", "--explain", *arguments)
            check_recall(found, explained=True)
            plan: dict[str, Any] = found["plan"]
            return plan

        plan = asked()
        assert (plan["time"]["words"], plan["given"]) == ("last week", [])
        assert "Harbour" in plan["entities"]
        plan = asked("--intent", "procedural", "--words", "0.75", "--from", "2026-05-04", "--to", "2026-05-10")
        assert (plan["intent"], plan["text_weight"]) == ("procedural", 0.75)
        assert plan["time"] == {"words": "", "from": "2026-05-04", "to": "2026-05-10"}
        assert plan["given"] == ["intent", "time", "text_weight"]
        plan = asked("--no-time")
        assert (plan["time"], plan["given"]) == (None, ["time"])
        crane = ("recall", "the crane at Harbour", "--from", "2026-05-06", "--to", "2026-05-06")
        assert "time" in shell.json(*crane, "--explain")["items"][0]["ranks"]  # the days lead to it
        check_recall(shell.json(*crane))
        said = shell.run(*crane, "--words", "0.25", "--explain").out.splitlines()
        shares = "words 0.25, meaning 0.75"
        assert said[0].startswith("Understood as: ")
        assert said[0].endswith(f" · 6 May 2026 · Harbour · {shares}")
        assert any(" in scope → " in line for line in said)
        for wrong in (
            ("--from", "the day before"),
            ("--to", "2026-02-30"),
            ("--from", "2026-05-02", "--to", "2026-05-01"),
            ("--no-time", "--from", "2026-05-02"),
            ("--words", "nan"),
        ):
            sentence = shell.run("--json", "recall", "crane", *wrong).refused(2, "E4005")
            assert wrong[1] not in sentence
        assert shell.run("recall", "crane", "--intent", "psychic").code == 2
        assert shell.run("recall", "crane", "--words", "1.5").code == 2


def test_recall_keeps_to_space_and_status(palace: Palace) -> None:
    with palace.shell() as shell:
        here = remembered(shell, BOAT)
        there = remembered(shell, "The mooring of the old boat was at quay two.", "--space", "harbour")
        world = remembered(shell, "A mooring is where a boat is tied up.", "--space", "GLOBAL")

        def found(*arguments: str) -> set[str]:
            return {item["id"] for item in shell.json("recall", "mooring of the boat", *arguments)["items"]}

        assert found() == {here, there, world}
        assert found("--space", "harbour") == {there}
        assert found("--space", "GLOBAL") == {world}
        shell.run("recall", "mooring", "--space", "nowhere").refused(1, "E2005")
        shell.json("forget", here)
        assert found() == {there, world}
        assert found("--status", "deleted") == {here}
        assert found("--status", "active,deleted") == {here, there, world}
        shell.run("recall", "mooring", "--status", "bogus").refused(2, "E4005")


def test_recall_as_of_a_date(palace: Palace, tmp_path: Path) -> None:
    """`--as-of` is valid time, and a time without a zone is local on the command line."""
    rows = [
        {"text": "Our studio is in Tannery Lane.", "valid_to": "2025-06-30T22:30:00Z", "ref": "old"},
        {"text": "Our studio is in Orchard Rise.", "valid_from": "2025-06-30T22:30:00Z", "ref": "new"},
    ]
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    palace.json("import", str(file))

    def refs(as_of: str, zone: str) -> set[str]:
        question = ("recall", "Where is our studio?", "--as-of", as_of)
        return {item["ref"] for item in palace.json(*question, variables={"TZ": zone})["items"]}

    with palace.shell() as shell:
        for as_of, ref in (("2025-01-15", "old"), ("2025-07-01", "new"), ("2025-06-30T23:00", "new")):
            found = shell.json("recall", "Where is our studio?", "--as-of", as_of)["items"]
            assert [item["ref"] for item in found] == [ref]
        shell.run("recall", "studio", "--as-of", "someday").refused(2, "E4005")
    assert refs("2025-06-30T23:00", "Europe/Oslo") == {"old"}  # there it was 21:00 UTC
    assert refs("2025-06-30T23:00Z", "Europe/Oslo") == {"new"}


def test_a_time_without_a_zone_is_local(palace: Palace) -> None:
    zone = {"TZ": "Europe/Oslo"}
    ids = {
        typed: palace.json("remember", text, "--time", typed, variables=zone)["memory_id"]
        for typed, text in (
            ("2025-07-01T12:00", "The boat was painted."),
            ("2025-01-01T12:00", "Rosa bakes on Sundays."),
            ("2025-07-01T12:00Z", "Our bank closes early."),
            ("2025-07-01T12:00-05:00", "Tickets lie in the drawer."),
        )
    }
    times = {item["id"]: item["occurred_at"] for item in palace.everything()}
    assert {typed: times[ident] for typed, ident in ids.items()} == {
        "2025-07-01T12:00": "2025-07-01T10:00:00Z",
        "2025-01-01T12:00": "2025-01-01T11:00:00Z",
        "2025-07-01T12:00Z": "2025-07-01T12:00:00Z",
        "2025-07-01T12:00-05:00": "2025-07-01T17:00:00Z",
    }


def test_list_finds_the_exact_phrase(palace: Palace) -> None:
    """Bytes are compared and case is kept; `total` counts all matches, the newest come first."""
    with palace.shell() as shell:
        ids = [remembered(shell, f"Pot {number} of the Celadon series.") for number in range(5)]
        odd = remembered(shell, "100% of _ and * are plain signs; Ærø, cafe\u0301.", "--kind", "episode")
        page = shell.json("list", "--text", "Celadon series", "--limit", "2")
        assert set(page) >= {"items", "total"}
        assert (page["total"], [item["id"] for item in page["items"]]) == (5, [ids[4], ids[3]])
        for item in page["items"]:
            check_item(item)

        def total(phrase: str, *arguments: str) -> int:
            found = shell.json("list", "--text", phrase, *arguments)
            assert len(found["items"]) == found["total"]
            return int(found["total"])

        assert [total(phrase) for phrase in ("celadon", "Celadon  series", "Celadon", "ot 3 of")] == [0, 0, 5, 1]
        assert [total(phrase) for phrase in ("100%", "_ and *", "100_", "Ærø", "ærø", "café", "cafe\u0301")] == [
            1, 1, 0, 1, 0, 0, 1,
        ]  # fmt: skip
        assert total("signs", "--kind", "episode") == 1
        assert total("signs", "--kind", "fact") == 0
        assert shell.json("list", "--kind", "episode")["items"][0]["id"] == odd
        shell.run("list", "--space", "nowhere").refused(1, "E2005")
        shell.run("list", "--status", "bogus").refused(2, "E4005")


def test_forget_undo_and_undo_of_a_named_step(palace: Palace) -> None:
    with palace.shell() as shell:
        boat, kiln = remembered(shell, BOAT), remembered(shell, SHIFTED)
        gone = shell.json("forget", boat)
        assert gone["id"] == boat
        assert is_id(gone["step"])
        assert shell.json("list")["total"] == 1
        hidden = shell.json("list", "--status", "all")
        assert {item["id"]: item["status"] for item in hidden["items"]} == {boat: "deleted", kiln: "active"}
        assert shell.json("recall", "mooring of the boat")["items"] == []
        third = remembered(shell, "A third thing, remembered after the forgetting.")
        # The named step goes, the newer one stays.
        undone = shell.json("undo", gone["step"])
        assert (undone["step"], undone["left"]) == (gone["step"], [])
        assert is_id(undone["undo_step"])
        assert {item["id"] for item in shell.json("list")["items"]} == {boat, kiln, third}
        assert shell.json("recall", "mooring of the boat")["items"][0]["id"] == boat
        shell.run("undo", gone["step"]).refused(1, "E4005")
        # An undo is a step itself.
        listed = shell.json("undo", "--list", "--limit", "2")
        assert [step["label"] for step in listed["items"]] == ["Undo: Forget a memory", "Remember a fact"]
        assert listed["items"][0]["id"] == undone["undo_step"]
        assert listed["total"] == 5
        assert all(is_time(step["at"]) for step in listed["items"])
        assert shell.run("undo", gone["step"], "--list").code == 2
        shell.json("undo", undone["undo_step"])
        assert {item["id"] for item in shell.json("list")["items"]} == {kiln, third}
        # Without a name it is the newest that stands.
        shell.json("undo")
        assert {item["id"] for item in shell.json("list")["items"]} == {kiln}
        for verb in ("show", "history", "forget", "undo", "unimport"):
            shell.run(verb, "0197a2b4-0000-7000-8000-000000000000").refused(1, "E2005")
        shell.run("forget", "nonsense").refused(1, "E2005")


def test_an_empty_vault_has_nothing_to_undo(palace: Palace) -> None:
    palace.run("--json", "undo").refused(1, "E2005")


def test_show_and_history(palace: Palace) -> None:
    with palace.shell() as shell:
        boat = remembered(shell, BOAT, "--claim", json.dumps(CLAIM), "--time", "2025-03-01")
        shown = shell.json("show", boat)
        check_shown(shown)
        assert (shown["occurred_at"], shown["id"]) == ("2025-03-01T00:00:00Z", boat)
        versions = shell.json("history", boat)
        assert [item["id"] for item in versions["items"]] == [boat]
        check_item(versions["items"][0])
        words = shell.run("show", boat)
        assert words.code == 0
        assert words.out.splitlines()[0] == BOAT
        assert boat in shell.run("history", boat).out


def test_import_answers_in_its_shape(palace: Palace) -> None:
    file = str(FIXTURES / "mem0" / "results.json")
    with palace.shell() as shell:
        rehearsed = shell.json("import", file, "--dry-run")
        check_import(rehearsed, dry_run=True)
        assert shell.json("list", "--status", "all")["total"] == 0
        assert shell.json("status")["imports"] == {}
        report = shell.json("import", "--space", "work", file, "--format", "mem0")
        check_import(report)
        found = shell.json("list", "--import", report["import_id"])
        assert (found["total"], {item["space"] for item in found["items"]}) == (report["stored"], {"work"})
        taken = shell.json("unimport", report["import_id"])
        assert (taken["import_id"], taken["left"]) == (report["import_id"], [])
        assert shell.json("list", "--status", "all")["total"] == 0
        shell.run("unimport", report["import_id"]).refused(1, "E2005")
        # Taking back an import is a step like any other.
        shell.json("undo", taken["undo_step"])
        assert shell.json("list")["total"] == report["stored"]
        shell.run("import", str(palace.folder / "nothing.zip")).refused(1, "E6001")


def test_a_format_that_is_not_in_the_file_is_refused(palace: Palace) -> None:
    file = str(FIXTURES / "mem0" / "results.json")
    palace.run("--json", "import", file, "--format", "chatgpt").refused(1, "E6002")
    assert palace.json("status")["imports"] == {}


def test_a_path_may_be_relative_and_odd(palace: Palace) -> None:
    odd = palace.folder / "øl & ☃.jsonl"
    odd.write_text('{"text": "Snow on the quay."}\n', encoding="utf-8")
    assert palace.json("import", odd.name)["stored"] == 1  # commands run in that folder


def test_an_import_in_words(palace: Palace) -> None:
    said = palace.run("import", str(FIXTURES / "generic" / "lighthouse-notes.jsonl"))
    assert (said.code, said.err) == (0, "")
    lines = said.out.splitlines()
    assert lines[0] == "Imported 9 memories (jsonl)."
    assert lines[-1].startswith("Undo it with: loci unimport ")
    assert any("lighthouse-notes.jsonl:4" in line for line in lines)


def test_status_verify_and_their_words(palace: Palace) -> None:
    with palace.shell() as shell:
        remembered(shell, BOAT)
        status = shell.json("status")
        assert (status["state"], status["memories"]["total"]) == ("open", 1)
        assert status["memories"]["by_kind"] == {"fact": 1}
        assert set(status["spaces"]) == {"GLOBAL", "home"}
        verified = shell.json("verify")
        check_verified(verified)
        assert {check["status"] for check in verified["checks"].values()} == {"ok"}
        # The issue names these: SQLCipher's check, SQLite's, FTS's, the audit chain, vault against index.
        assert {"cipher", "integrity", "search", "audit", "index"} <= set(verified["checks"])
        said = shell.run("verify")
        assert (said.code, said.out.splitlines()[0]) == (0, "The vault is whole.")
        assert "1 fact)" in shell.run("status").out


def test_clients_pair_and_revoke(palace: Palace) -> None:
    with palace.shell() as shell:
        made = shell.json("pair", "notes-plugin", "--grant", "read,space:work", "--grant", "write", "--limit", "none")
        assert set(made) >= {"client", "token"}
        assert made["client"] == "notes-plugin"
        assert len(made["token"]) == 43  # 32 bytes, base64url without padding
        usual = shell.json("pair", "usual")
        assert sorted(usual["grants"]) == ["propose", "read"]
        rows = {row["name"]: row for row in shell.json("clients")["clients"]}
        assert rows["notes-plugin"]["grants"] == ["read", "write", "space:work"]
        assert rows["notes-plugin"]["limits"] == {"searches_per_minute": None, "searches_per_session": None}
        assert rows["usual"]["limits"] == {"searches_per_minute": 20, "searches_per_session": 200}
        assert not [row for row in rows.values() if "token" in row]
        wider = shell.json("grant", "usual", "--grant", "write,space:work", "--take", "propose")
        assert wider["grants"] == ["read", "write", "space:work"]
        shell.json("undo")
        rows = {row["name"]: row for row in shell.json("clients")["clients"]}
        assert rows["usual"]["grants"] == ["propose", "read"]
        shell.run("grant", "nobody", "--grant", "read").refused(1, "E2005")
        shell.run("grant", "usual", "--grant", "raed").refused(2, "E4005")
        assert "The space wrok is new and empty." in shell.run("grant", "usual", "--grant", "space:wrok").out
        assert "is new" not in shell.run("grant", "usual", "--grant", "space:work").out
        shell.run("unlock").refused(1, "E5008")
        shell.run("pair", "usual").refused(1, "E4005")
        shell.run("pair", "other", "--grant", "everything").refused(2, "E4005")
        shell.run("pair", "other", "--limit", "0").refused(2, "E4005")
        shell.run("pair", "@owner").refused(2, "E4005")
        shell.json("revoke", "usual")
        shell.run("revoke", "usual").refused(1, "E2005")
        assert shell.json("pair", "usual")["token"] != usual["token"]
        said = shell.run("pair", "third")
        assert "Token" in said.out
        assert "loci.sock" in said.out
        assert "It sees none of your spaces" in said.out


def test_loci_now_moves_only_the_clock_of_a_test_vault(palace: Palace, clocked: Palace) -> None:
    later = {"LOCI_NOW": "+90d"}
    moved = clocked.run("--json", "remember", BOAT, variables=later)
    assert (moved.code, moved.err) == (0, "")
    (item,) = clocked.everything()
    made = datetime.fromisoformat(item["created_at"])
    assert timedelta(days=89) < made - datetime.now(UTC) < timedelta(days=91)
    clocked.json("remember", SHIFTED, variables={"LOCI_NOW": "2031-05-01T12:00:00Z"})
    fixed = clocked.json("list", "--text", SHIFTED)["items"][0]
    assert fixed["created_at"].startswith("2031-05-01T12:0")
    clocked.run("list", variables={"LOCI_NOW": "tomorrow"}).refused(1, "E5003")
    ignored = palace.run("--json", "remember", BOAT, variables=later)
    check_stored(ignored.document)
    assert "LOCI_NOW is ignored" in ignored.err
    (item,) = palace.everything()
    assert abs(datetime.fromisoformat(item["created_at"]) - datetime.now(UTC)) < timedelta(days=1)


# The command as it is, with fewer questions: how many it asks is a unit test's matter.
_SMALL_BENCH = """
from app.__main__ import run
from app.bench import measure
measure.QUERIES, measure._COLD_QUERIES, measure._ALONE = 10, 3, 2
run()
"""


def test_bench_measures_on_a_vault_of_its_own(palace: Palace) -> None:
    """`loci bench --n N` touches nothing of the person's."""
    palace.json("remember", BOAT)
    bench = Forked(palace.command("--json", "bench", "--n", "10"), palace.folder, palace.environment, code=_SMALL_BENCH)
    code, told, said = bench.communicate(b"", 2 * MINUTE_S)
    assert code == 0, said
    assert json.loads(told)
    assert palace.json("list", "--status", "all")["total"] == 1


def test_trust_is_a_number_between_nothing_and_one(palace: Palace) -> None:
    with palace.shell() as shell:
        for way, text in (
            ("user_explicit", "The boat was painted."),
            ("system", "Backups run at four."),
            ("tool_output", "Parcel 12 lies at the depot."),
            ("user_implicit", "Rosa bakes on Sundays."),
            ("document", "Our bank closes early."),
            ("inference", "Tickets lie in the drawer."),
        ):
            remembered(shell, text, "--source", way)
        trust = {item["source"]: item["trust"] for item in shell.json("list")["items"]}
    assert all(is_number(value) for value in trust.values())
    # Design section 4: W of the six ways, nothing else being known.
    assert trust == pytest.approx(
        {
            "user_explicit": 1.0,
            "system": 0.95,
            "tool_output": 0.85,
            "user_implicit": 0.7,
            "document": 0.6,
            "inference": 0.5,
        },
        abs=1e-3,
    )
