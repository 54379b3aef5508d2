"""What the command line says to a person: of one memory, of steps and whose they were, of an import, of a new text."""

from __future__ import annotations

import json

from cli_rig import Palace, Shell

from core.security.handshake import decode_value

GRAZ, LINZ, VIENNA = "I live in Graz.", "I live in Linz now.", "The letter says: lives in Vienna."
HOSTILE = "The lamp \x1b[2J is\u202e green."


def claim(value: str) -> str:
    return json.dumps({"subject": "user", "predicate": "lives_in", "value": value, "exclusive": True})


def letter(shell: Shell) -> str:
    """A document against the owner's word; the conflict's id."""
    told = shell.json("remember", VIENNA, "--claim", claim("Vienna"), "--source", "document")
    return str(told["conflict"])


def moved(shell: Shell) -> tuple[str, str]:
    """The owner moved from Graz to Linz: ids of both."""
    first = shell.json("remember", GRAZ, "--claim", claim("Graz"), "--time", "2025-03-01")
    second = shell.json("remember", LINZ, "--claim", claim("Linz"), "--time", "2026-05-02")
    return str(first["memory_id"]), str(second["memory_id"])


def block(told: str, name: str) -> list[str]:
    """The lines that stand beside a name, with those that go on under it."""
    lines = iter(told.splitlines())
    first = next(line for line in lines if line.startswith(f"{name} "))
    found = [first.removeprefix(name).strip()]
    for line in lines:
        if not line.startswith(" "):
            break
        found.append(line.strip())
    return found


def test_show_tells_what_took_a_memorys_place(palace: Palace) -> None:
    with palace.shell() as shell:
        old, new = moved(shell)
        told, now = shell.run("show", old).out, shell.run("show", new).out
    assert told.splitlines()[0] == GRAZ
    assert block(told, "status") == [
        "outdated",
        "A later one replaced it.",
        f"Now: “{LINZ}”",
        f"2026-05-02, by you · {new}",
    ]
    assert block(told, "said") == ["2025-03-01, by you"]
    assert block(told, "held") == ["until 2026-05-02"]
    assert block(told, "claims")[0] == "You live in Graz"
    assert block(told, "claims")[1].startswith("outdated · 1 quote")
    assert block(told, "versions") == [
        f"2025-03-01  superseded  “{GRAZ}”  this one",
        f"2026-05-02  active      “{LINZ}”  {new}",
    ]
    assert block(now, "status") == ["active"]
    assert "{" not in told


def test_show_tells_the_steps_of_a_trust(palace: Palace) -> None:
    with palace.shell() as shell:
        tool = shell.json("remember", "The boiler was made in 1998.", "--source", "tool_output", "--time", "2020-01-31")
        shell.run("dispute", tool["memory_id"], "--reason", "no")
        told = shell.run("show", tool["memory_id"]).out
    assert block(told, "status")[0] == "disputed: recall leaves it out until it is confirmed"
    assert block(told, "status")[1] == "You said that it is wrong."
    assert [line.split(maxsplit=1) for line in block(told, "trust")] == [
        ["0.60,", "fairly trusted"],
        ["0.85", "Source         A tool reported it"],
        ["0.00", "Other sources  No second source"],
        ["-0.15", "Feedback       Disputed once"],
        ["-0.10", "Age            Said on 2020-01-31"],
    ]


def test_show_tells_what_a_memory_waits_for(palace: Palace) -> None:
    with palace.shell() as shell:
        _, new = moved(shell)
        item = letter(shell)
        waits = shell.json("list", "--status", "quarantined")["items"][0]["id"]
        held, stands = shell.run("show", waits).out, shell.run("show", new).out
        shell.run("resolve", item, "scope_split", "--when", "in winter")
        split, unless = shell.run("show", waits).out, shell.run("show", new).out
    reason = "It contradicts what you said yourself; only you can replace that."
    assert block(held, "status") == ["held back: it waits for your decision", reason]
    assert block(held, "question")[:2] == [
        f"asked as {item[-8:]}: Where do you live: Linz or Vienna?",
        f"existing: “{LINZ}”",
    ]
    assert held.count(reason) == 1
    assert block(stands, "question")[1] == f"new: “{VIENNA}”"
    assert block(stands, "question")[3] == reason
    assert block(split, "true") == ["only when in winter"]
    assert block(unless, "true") == ["not when in winter"]
    assert block(split, "claims")[1].endswith("only when in winter")


def test_history_says_when_a_version_was_said(palace: Palace) -> None:
    with palace.shell() as shell:
        old, new = moved(shell)
        told = shell.run("history", new).out
    assert [line.strip() for line in told.splitlines()] == [
        f"2025-03-01  superseded  {GRAZ}",
        f"your word · {old}",
        f"2026-05-02  active      {LINZ}",
        f"your word · {new}",
    ]


def test_steps_say_what_they_were_about(palace: Palace) -> None:
    with palace.shell() as shell:
        moved(shell)
        shell.run("remember", HOSTILE)
        told = shell.run("undo", "--list").out
        taken = shell.run("undo").out
        again = shell.run("undo", "--list", "--limit", "2").out
        back = shell.run("undo", taken.splitlines()[-1].split("`")[1].split()[-1]).out
    lines = told.splitlines()
    assert lines[0].endswith("Remember a fact · you [`loci undo` undoes this]")
    assert lines[1] == "    “The lamp <U+001B>[2J is<U+202E> green.”"
    assert lines[4] == f"    “{LINZ}” and 1 more"
    assert lines[-1] == "3 of 3. `loci undo STEP` undoes one."
    assert taken.splitlines()[:2] == ["Undid: Remember a fact.", lines[1]]
    assert taken.splitlines()[2].startswith("It was your own step of ")
    assert "[undone]" in again
    assert "\x1b" not in told + taken
    assert back.splitlines()[0] == "Redid: Remember a fact."


def test_parts_of_a_long_text_are_one_memory(palace: Palace) -> None:
    with palace.shell() as shell:
        lamp = shell.json("remember", "The lamp was lit by hand every night of that winter. " * 400)["memory_id"]
        told, shown = shell.run("undo", "--list").out.splitlines(), shell.run("show", lamp).out
    assert block(shown, "part") == ["1 of 3"]
    assert "versions" not in shown
    assert told[1].startswith("    “The lamp was lit by hand")
    assert told[1].endswith("…”")


def test_a_clients_step_is_not_taken_back_without_a_word(palace: Palace) -> None:
    token = decode_value(palace.json("pair", "notes-plugin", "--grant", "write,space:home")["token"], 32)
    with palace.serving():
        with palace.client("notes-plugin", token) as client:
            client.call("memory_store", {"text": "The ferry leaves at nine.", "space": "home"})
        told = palace.run("undo", "--list").out
        taken = palace.run("undo").out
        left = palace.json("list")["total"]
    assert "Remember a fact · notes-plugin [`loci undo` undoes this]" in told.splitlines()[0]
    assert taken.splitlines()[:2] == ["Undid: Remember a fact.", "    “The ferry leaves at nine.”"]
    assert taken.splitlines()[2].startswith("It was a step of notes-plugin, not yours, of ")
    assert left == 0


def test_an_import_says_what_its_facts_brought_up(palace: Palace) -> None:
    row = {
        "text": "Lives in Vienna.",
        "kind": "fact",
        "ref": "a",
        "source": "document",
        "claim": json.loads(claim("V")),
    }
    rows = [{**row, "time": "2026-10-01T10:00:00Z"}, {**row, "text": "The kettle is blue.", "ref": "b", "claim": None}]
    file = palace.folder / "rows.jsonl"
    kept = [{name: value for name, value in one.items() if value is not None} for one in rows]
    file.write_text("".join(json.dumps(one) + "\n" for one in kept), encoding="utf-8")
    with palace.shell() as shell:
        moved(shell)
        rehearsed = shell.run("import", str(file), "--dry-run").out
        told = shell.run("import", str(file)).out
        listed = shell.run("undo", "--list", "--limit", "1").out
        waiting = shell.json("conflicts")["conflicts"]
        taken = shell.run("undo").out
    assert "waiting for review" not in rehearsed
    assert len(waiting) == 1
    assert "waiting for review  1" in told
    assert "`loci conflicts` shows what waits." in told
    assert "“Lives in Vienna.” and 1 more" in listed
    assert taken.splitlines()[0] == "Undid: Import memories."


def test_remember_says_what_became_of_a_text(palace: Palace) -> None:
    with palace.shell() as shell:
        moved(shell)
        wels = ("remember", "I live in Wels.", "--claim", claim("Wels"))
        older = shell.run(*wels, "--time", "2024-01-01").out
        newer = shell.run(*wels[:1], "I live in Wels by now.", *wels[2:]).out
        known = shell.run("remember", "I live in Wels by now.").out
        held = shell.run("remember", VIENNA, "--claim", claim("Vienna"), "--source", "document").out
        again = shell.run("remember", f"Again: {VIENNA}", "--claim", claim("Vienna"), "--source", "document").out
        asked = shell.json("conflicts")["conflicts"][0]["id"]
    assert older.startswith("Kept in the history: the current memory was said later.")
    assert f"  Since then: “{GRAZ}”" in older.splitlines()
    assert f"  It replaces: “{LINZ}”" in newer.splitlines()
    assert known.splitlines()[1] == "  “I live in Wels by now.”"
    assert held.startswith("Held back until you decide.")
    assert again.startswith("Held back: the same waits for your decision already.")
    assert f"`loci conflicts` shows it, as {asked[-8:]}." in held


def test_conflicts_say_what_each_answer_does(palace: Palace) -> None:
    with palace.shell() as shell:
        moved(shell)
        item = letter(shell)
        told = shell.run("conflicts").out
        shell.run("resolve", item, "reject")
        twice = shell.run("resolve", item, "reject")
        unknown = shell.run("resolve", "0123456789ab", "reject")
    lines = told.splitlines()
    assert lines[0] == f" 1. Where do you live: Linz or Vienna?  [Contradiction]  {item[-8:]}"
    assert lines[1] == f"    you have: {LINZ}"
    assert lines[2].strip().startswith("2026-05-02, by you · trust ")
    assert lines[3] == f"    arrived:  {VIENNA}"
    assert ", in a document · trust 0.60 · held back · " in lines[4]
    answers = next(line for line in lines if "Answers:" in line).split(":")[1].split(",")
    told_of = [line.split()[0] for line in lines[lines.index("Where two disagree:") + 1 : -1]]
    assert {one.strip() for one in answers} == set(told_of)
    assert twice.refused(1, "E4005").startswith("That was decided already")
    assert unknown.refused(1, "E2005") == "There is no such conflict."


def test_verdicts_say_how_a_memory_stands_now(palace: Palace) -> None:
    with palace.shell() as shell:
        boat = shell.json("remember", "The boat is red.")["memory_id"]
        disputed = shell.run("dispute", boat).out
        confirmed = shell.run("confirm", boat).out
    assert disputed.startswith("Disputed. Recall leaves it out until it is confirmed; trust ")
    assert confirmed.startswith("Confirmed. It is active, trust ")
