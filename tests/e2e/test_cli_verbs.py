"""The verbs of the command line that do what the window does, wrong values of all of them, and completions."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import click
import pytest
from cli_rig import MINUTE_S, PASSPHRASE, Palace, Shell
from cli_terminal import Terminal

from app.cli.commands import loci
from app.cli.completion import list_verbs

BOAT = "The boat's mooring is paid until March."
KEYS = "The spare keys hang behind the tide clock."


def remembered(shell: Shell, text: str, *more: str) -> str:
    """Store a text; the id of its memory."""
    return str(shell.json("remember", text, *more)["memory_id"])


# ---- ids


def test_the_end_of_an_id_is_enough_for_every_verb_that_takes_one(palace: Palace) -> None:
    with palace.shell() as shell:
        whole = remembered(shell, BOAT)
        end = whole[-8:]
        assert shell.json("show", end)["id"] == shell.json("show", end.upper())["id"] == whole
        assert shell.json("history", whole[-17:])["items"][0]["id"] == whole
        for verb in ("confirm", "reinforce", "dispute", "pin"):
            assert shell.json(verb, end)["id"] == whole
        assert shell.json("tag", end, "+boat")["id"] == whole
        assert shell.json("erase", end, "--dry-run")["id"] == whole
        step = shell.json("forget", end)["step"]
        assert shell.json("undo", step[-8:])["step"] == step
        file = palace.folder / "rows.jsonl"
        file.write_text(json.dumps({"text": KEYS}) + "\n", encoding="utf-8")
        brought = shell.json("import", str(file))["import_id"]
        assert shell.json("list", "--import", brought[-8:])["total"] == 1
        assert shell.json("unimport", brought[-8:])["import_id"] == brought
        for unknown in ("ffffffff", end[1:], "zz" + end):
            shell.run("show", unknown).refused(1, "E2005")


# ---- changing one memory


def test_edit_pin_and_tag_are_one_step_each(palace: Palace) -> None:
    with palace.shell() as shell:
        first = remembered(shell, BOAT)
        edited = shell.json("edit", first[-8:], "The boat's mooring is paid until May.")
        assert (edited["operation"], edited["superseded"]) == ("UPDATE", [first])
        shown = shell.json("show", edited["memory_id"])
        assert (shown["text"], shown["supersedes"]) == ("The boat's mooring is paid until May.", first)
        assert shell.json("edit", edited["memory_id"], shown["text"])["operation"] == "NOOP"
        shell.json("undo", edited["step"])
        assert [item["text"] for item in shell.json("list")["items"]] == [BOAT]

        pinned = shell.json("pin", first)
        assert (pinned["pinned"], shell.json("show", first)["pinned"]) == (True, True)
        assert shell.json("pin", first)["step"] is None
        assert shell.run("pin", first).out == "It is pinned already.\n"
        assert shell.json("pin", first, "--off")["pinned"] is False
        shell.json("undo")
        assert shell.json("show", first)["pinned"] is True

        hidden = shell.json("tier", first, "confidential")
        assert (hidden["tier"], shell.json("show", first)["tier"]) == ("confidential", "confidential")
        assert shell.run("tier", first, "confidential").out == "It is confidential already.\n"
        assert shell.run("tier", first, "cleartext").out.startswith("Assistants can read it again.")
        shell.json("undo", hidden["step"])
        assert shell.json("show", first)["tier"] == "cleartext"
        assert shell.run("tier", first, "secret").code == 2

        tagged = shell.json("tag", first, "+boat", "--add", "harbour dues")
        assert sorted(tagged["tags"]) == ["boat", "harbour dues"]
        assert shell.json("tag", first, "-boat", "+quay", "--remove", "harbour dues")["tags"] == ["quay"]
        shell.json("undo")
        assert sorted(shell.json("show", first)["tags"]) == ["boat", "harbour dues"]
        assert shell.run("tag", first, "+boat").out.splitlines()[0] == "Nothing changed."

        gone = remembered(shell, KEYS)
        shell.json("forget", gone)
        shell.run("edit", gone, "Something else.").refused(1, "E4005")  # a right value, but not as things stand
        shell.run("edit", first, " ").refused(2, "E4005")
        shell.run("edit", first, "x" * 9000).refused(2, "E4004")
        for wrong in ((), ("boat",), ("+",), ("+a", "-a")):
            assert shell.run("tag", first, *wrong).code == 2, wrong
        assert shell.run("edit", first).code == 2
        for verb in (("edit", "x"), ("pin",), ("tag", "+x"), ("tier", "sensitive")):
            shell.run(verb[0], "0197a2b4-0000-7000-8000-000000000000", *verb[1:]).refused(1, "E2005")


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="terminals of POSIX")
def test_edit_opens_the_editor_of_the_person(palace: Palace) -> None:
    first = str(palace.json("remember", BOAT)["memory_id"])
    program = palace.folder / "editor"
    lines = (
        f"#!{sys.executable}",
        "import sys, pathlib",
        "file = pathlib.Path(sys.argv[1])",
        "assert file.stat().st_mode & 0o077 == 0",
        r"file.write_text(file.read_text().replace('March', 'June') + '\n')",
    )
    program.write_text("\n".join(lines), encoding="utf-8")
    program.chmod(0o700)
    palace.environment["VISUAL"] = str(program)
    with Terminal(palace, "--json", "edit", first) as person:
        assert person.ended().document["operation"] == "UPDATE"
    assert [item["text"] for item in palace.json("list")["items"]] == [BOAT.replace("March", "June")]
    assert not list((palace.folder / "run").rglob("memory.txt"))
    palace.environment["VISUAL"] = "false"
    with Terminal(palace, "edit", first) as person:
        assert "nothing was changed" in person.ended().refused(1, "E5008")


# ---- lists


def test_a_list_goes_on_behind_a_page_in_every_order(palace: Palace) -> None:
    rows = [
        {"text": f"Row {nr}.", "importance": (nr * 3 % 7) / 10, "time": f"2025-0{1 + nr * 5 % 9}-01"} for nr in range(7)
    ]
    file = palace.folder / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with palace.shell() as shell:
        shell.json("import", str(file))
        for sort, key in (
            ("newest", None),
            ("oldest", None),
            ("said", "occurred_at"),
            ("importance", "importance"),
            ("trust", "trust"),
        ):
            whole = shell.json("list", "--sort", sort)["items"]
            paged: list[dict[str, Any]] = []
            after: list[str] = []
            while True:
                page = shell.json("list", "--sort", sort, "--limit", "3", *after)
                assert page["total"] == 7
                paged += page["items"]
                if "next" not in page:
                    break
                after = ["--after", page["next"][-8:]]
            assert [item["id"] for item in paged] == [item["id"] for item in whole]
            if key is not None:
                values = [item[key] for item in whole]
                assert values == sorted(values, reverse=True)
        newest = [item["id"] for item in shell.json("list")["items"]]
        assert [item["id"] for item in shell.json("list", "--sort", "oldest")["items"]] == newest[::-1]
        said = shell.run("list", "--limit", "2")
        assert said.err == f"There is more: --after {newest[1]}\n"
        lines = shell.run("list", "--limit", "2", "--jsonl")
        assert [json.loads(line)["id"] for line in lines.out.splitlines()] == newest[:2]
        assert lines.err == said.err
        assert shell.run("list", "--jsonl", "--json").code == 2
        shell.run("list", "--after", "ffffffff").refused(2, "E4005")


def test_a_list_over_the_owners_channel_says_where_it_goes_on(palace: Palace) -> None:
    file = palace.folder / "rows.jsonl"
    file.write_text("".join(json.dumps({"text": f"Row {nr}."}) + "\n" for nr in range(5)), encoding="utf-8")
    palace.json("import", str(file))
    with palace.serving():
        page = palace.json("list", "--limit", "3")
        assert [item["text"] for item in page["items"]] == ["Row 4.", "Row 3.", "Row 2."]
        rest = palace.json("list", "--limit", "3", "--after", page["next"])
        assert [item["text"] for item in rest["items"]] == ["Row 1.", "Row 0."]
        assert "next" not in rest
        refused = palace.run("list", "--client", "nobody")  # a wrong value ends with 2 over the socket, too
        refused.refused(2, "E4005")
        step = palace.json("forget", rest["items"][0]["id"][-8:])["step"]
        palace.json("undo", step)
        palace.run("undo", step).refused(1, "E4005")  # and what is refused as things stand with 1


def test_a_list_is_narrowed_by_day_tag_and_client(palace: Palace) -> None:
    with palace.shell() as shell:
        old = remembered(shell, BOAT, "--time", "2024-11-30")
        new = remembered(shell, KEYS, "--time", "2024-12-01")
        shell.json("tag", new, "+Keys")
        shell.json("tag", old, "+boat")
        shell.json("pair", "plug")

        def ids(*arguments: str) -> set[str]:
            found = shell.json("list", *arguments)
            assert found["total"] == len(found["items"])
            return {item["id"] for item in found["items"]}

        assert ids("--since", "2024-12") == ids("--since", "2024-12-01T00:00:00Z") == ids("--tag", "keys") == {new}
        assert ids("--since", "2024") == ids("--tag", "keys", "--tag", "boat") == {old, new}
        assert ids("--client", "plug") == ids("--tag", "ke") == set()
        assert shell.run("list", "--tag", "keys").out.splitlines()[-1] == "1 of 1."


# ---- export, spaces, secrets, log


def test_at_a_terminal_a_file_is_not_replaced_unasked(palace: Palace) -> None:
    palace.json("remember", BOAT)
    file = palace.folder / "mine.jsonl"
    file.write_text("my own notes", encoding="utf-8")
    with Terminal(palace, "export", str(file)) as person:
        person.type(b"n\n")
        done = person.ended()
    assert (done.code, "Replace it?" in done.err) == (0, True)
    assert file.read_text(encoding="utf-8") == "my own notes"
    before = file.read_bytes()
    assert "nobody can be asked" in palace.run("export", str(file)).refused(1, "E4005")
    palace.run("--json", "export", str(file)).refused(1, "E4005")
    assert file.read_bytes() == before
    palace.json("export", str(file), "--yes")
    assert BOAT in file.read_text(encoding="utf-8")


@pytest.mark.parametrize("serving", [False, True])
def test_an_export_is_the_same_in_a_file_and_on_standard_output(palace: Palace, serving: bool) -> None:
    long = "The lamp was lit by hand every night of that winter. " * 400
    with palace.shell() as shell:
        remembered(shell, BOAT, "--space", "harbour")
        gone = remembered(shell, KEYS)
        remembered(shell, long)
        shell.json("forget", gone)

    def check() -> None:
        for ending, form in (("jsonl", "jsonl"), ("json", "json"), ("md", "markdown"), ("csv", "csv")):
            file = palace.folder / f"out.{ending}"
            told = palace.json("export", str(file))
            assert told == {"path": str(file), "format": form, "memories": 2}
            assert stat.S_IMODE(file.stat().st_mode) == 0o600
            assert palace.run("export", "-", "--format", form).out == file.read_bytes().decode()
            file.unlink()
        notes = palace.folder / "out.zip"
        assert palace.json("export", str(notes))["format"] == "obsidian"
        with zipfile.ZipFile(notes) as packed:
            assert len([name for name in packed.namelist() if name.startswith("Memories/")]) == 2
        notes.unlink()
        palace.run("export", "-", "--format", "obsidian").refused(2, "E4005")
        rows = [json.loads(line) for line in palace.run("export", "-").out.splitlines()]
        assert {row["text"] for row in rows} == {BOAT, long}
        assert len(palace.run("export", "-", "--status", "all").out.splitlines()) == 3
        assert len(palace.run("export", "-", "--space", "harbour").out.splitlines()) == 1

    if serving:
        with palace.serving():
            check()
        return
    check()
    palace.run("export", "-", "--space", "nowhere").refused(1, "E2005")
    assert palace.run("--json", "export", "-").code == 2
    palace.run("export", str(palace.home / "mine.jsonl")).refused(2, "E4005")


def test_spaces_are_listed_with_what_stands_in_them(palace: Palace) -> None:
    with palace.shell() as shell:
        remembered(shell, BOAT, "--space", "harbour")
        assert shell.json("spaces")["spaces"] == [
            {"name": "GLOBAL", "memories": 0}, {"name": "harbour", "memories": 1}, {"name": "home", "memories": 0},
        ]  # fmt: skip
        assert "harbour  1 memory\n" in shell.run("spaces").out


@pytest.mark.parametrize("serving", [False, True])
def test_the_passphrase_is_changed_and_the_recovery_code_made_anew(palace: Palace, serving: bool) -> None:
    new = palace.folder / "new"
    new.write_text("another quiet passphrase\n", encoding="utf-8")

    def change() -> str:
        assert palace.json("passphrase", "--new-passphrase-file", str(new)) == {"changed": True}
        palace.run("list").refused(4, "E1006")
        return str(palace.run("--json", "passphrase", "--recovery-code", secret=new).document["recovery_code"])

    if serving:
        with palace.serving():
            code = change()
    else:
        code = change()
    kept = palace.folder / "code"
    kept.write_text(code + "\n", encoding="utf-8")
    assert palace.run("list", secret=kept).code == palace.run("list", secret=new).code == 0
    if not serving:
        palace.run("passphrase", "--new-passphrase-file", str(new)).refused(4, "E1006")  # the old one opens nothing
        palace.run("passphrase", "--new-passphrase-file", str(palace.folder / "no"), secret=new).refused(4, "E1001")
        assert palace.run("passphrase", "--recovery-code", "--new-passphrase-file", str(new), secret=new).code == 2
    assert PASSPHRASE not in palace.run("list", secret=new).err


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="terminals of POSIX")
def test_a_recovery_code_that_is_not_typed_back_is_given_up(palace: Palace) -> None:
    before = (palace.home / "vault.keys").read_bytes()
    with Terminal(palace, "passphrase", "--recovery-code") as person:
        person.type(b"AAAA-BBBB\n")
        ended = person.ended()
    assert ended.code == 4
    assert "the old one stays valid" in ended.err
    assert (palace.home / "vault.keys").read_bytes() == before


def test_the_log_of_a_client_tells_what_it_did(palace: Palace) -> None:
    token = palace.json("pair", "plug", "--grant", "read,write")["token"]
    palace.json("pair", "other")
    with palace.serving():
        from core.ipc.client.client import token_from_text

        with palace.client("plug", token_from_text(token)) as client:
            client.call("memory_store", {"text": BOAT})
            client.call("memory_search", {"query": "mooring"})
        told = palace.json("log", "plug")["lines"]
        assert [line["did"] for line in told] == ["asked", "wrote"]
        assert (told[1]["text"], told[1]["operation"], told[1]["client"]) == (BOAT, "ADD", "plug")
        assert palace.json("log", "other")["lines"] == []
        page = palace.json("log", "--limit", "1")
        assert [line["did"] for line in palace.json("log", "--after", page["next"])["lines"]] == ["wrote"]
        said = palace.run("log", "plug").out
        assert "Stored: The boat's mooring" in said
        assert "mooring?" not in said
        given = palace.run("receipt", told[0]["receipt"]).out
        assert "by plug" in given
        assert "mooring" in given
        assert told[1]["memory_id"] in given
        palace.json("undo", told[1]["step"])
        assert palace.json("log", "plug")["lines"][1]["undone"] is True


def test_what_is_sensitive_is_listed_with_its_numbers_masked(palace: Palace) -> None:
    palace.json("remember", "Card for the boatyard: 4111 1111 1111 1111")
    palace.json("remember", BOAT)
    forgotten = palace.json("remember", "Karl's email is karl@harbour.example")["memory_id"]
    palace.run("forget", forgotten)
    said = palace.run("sensitive").out
    assert "4111 1111" not in said
    assert "•••• •••• •••• 1111" in said
    assert "[forgotten]" in said
    assert "2 found in 3 memories." in said
    assert "4111 1111 1111 1111" in palace.run("sensitive", "--reveal").out
    found = palace.json("sensitive", "--type", "email")
    assert [one["id"] for one in found["items"]] == [forgotten]
    assert palace.run("sensitive", "--type", "shoe").code == 2


def test_what_is_found_is_kept_from_assistants_until_the_person_says_otherwise(palace: Palace) -> None:
    card = palace.json("remember", "Card for the boatyard: 4111 1111 1111 1111")["memory_id"]
    shown = palace.json("show", card)
    assert (shown["tier"], shown["extra"], shown["sensitive"]) == (
        "confidential",
        {"tier_by": "rules"},
        ["credit_card"],
    )
    palace.run("disclose", "plug").refused(1, "E4005")  # nobody is connected: no engine runs
    palace.json("pair", "plug", "--grant", "read,space:home")
    with palace.serving() as serving:
        palace.run("disclose", "plug").refused(1, "E4005")  # it lacks the grant
        palace.json("grant", "plug", "--grant", "sensitive")
        assert palace.json("disclose", "plug", "--minutes", "5")["seconds"] == 300
        (client,) = palace.json("clients")["clients"]
        assert 0 < client["sensitive_s"] <= 300
        assert palace.json("disclose", "plug", "--off")["seconds"] == 0
        serving.end()
    assert palace.json("tier", card, "cleartext")["step"]
    assert palace.json("show", card)["tier"] == "cleartext"
    assert palace.json("sensitive", "--protect") == {"protected": 0, "looked_at": 0, "steps": []}


def test_how_long_memories_stay_is_shown_before_it_is_set(palace: Palace) -> None:
    palace.json("remember", BOAT)
    assert palace.json("retention") == {"rules": []}
    assert "No rule" in palace.run("retention").out
    preview = palace.json("retention", "home", "fact", "--days", "30", "--dry-run")
    assert preview == {"rules": [{"space": "home", "kind": "fact", "days": 30, "over": 0, "ids": []}]}
    assert palace.json("retention") == {"rules": []}
    assert palace.json("retention", "home", "fact", "--days", "30") == preview
    assert "home, fact: 30 days" in palace.run("retention").out
    assert palace.json("retention", "home", "fact", "--drop") == {"rules": []}
    palace.run("retention", "home", "fact", "--drop").refused(1, "E2005")
    assert palace.run("retention", "home").code == 2


# ---- doctor


def test_doctor_needs_no_passphrase_and_touches_nothing(palace: Palace) -> None:
    before = {path: path.read_bytes() for path in palace.home.iterdir() if path.is_file()}
    found = palace.bare("--home", str(palace.home), "--json", "doctor").document
    states = {one["check"]: one["state"] for one in found["checks"]}
    assert {name: states[name] for name in ("python", "libraries", "search_model", "home", "vault")} == dict.fromkeys(
        ("python", "libraries", "search_model", "home", "vault"), "ok"
    )
    assert set(states) >= {"keyring", "disk", "window", "engine", "model_server", "relation_model"}
    assert all((one["state"] == "ok") == (one["do"] is None) for one in found["checks"])
    assert {path: path.read_bytes() for path in palace.home.iterdir() if path.is_file()} == before
    (palace.home / "vault.keys").write_bytes(b"")
    (palace.home / "vault.keys.bak").write_bytes(b"")
    palace.home.chmod(0o755)
    ill = palace.bare("--home", str(palace.home), "doctor")
    assert ill.code == 1
    lines = ill.out.splitlines()
    assert any(line.startswith("FAIL  Vault") for line in lines)
    assert any(line.startswith("warn  Home") for line in lines)
    assert lines[-1] == "1 thing keeps Loci from working."


# ---- wrong values


def wrong_calls() -> list[tuple[str, ...]]:
    """Every option of every verb that takes a number, a word of a list or a file, with a value that is none."""
    found: list[tuple[str, ...]] = []
    context = click.Context(loci)
    for name in loci.list_commands(context):
        command = loci.get_command(context, name)
        assert command is not None
        parameters = command.get_params(click.Context(command))
        arguments = [one for one in parameters if isinstance(one, click.Argument)]
        fill = ["x" for one in arguments if one.required]
        for one in parameters:
            is_free = isinstance(one.type, click.types.StringParamType | click.Path)
            if isinstance(one, click.Option) and not one.is_flag and not is_free:
                found.append((name, *fill, one.opts[0], "no-such-value"))
            elif isinstance(one, click.Argument) and isinstance(one.type, click.Choice):
                found.append((name, *("no-such-value" for _ in arguments[: arguments.index(one) + 1])))
    return found


TYPED: tuple[tuple[str, ...], ...] = (
    ("recall", "x", "--as-of", "someday"),
    ("recall", "x", "--from", "someday"),
    ("recall", "x", "--status", "bogus"),
    ("recall", " "),
    ("context", " "),
    ("remember", "x", "--time", "someday"),
    ("remember", "x", "--importance", "7"),
    ("remember", "x", "--claim", "{"),
    ("remember", ""),
    ("list", "--since", "someday"),
    ("list", "--status", "bogus"),
    ("list", "--client", "nobody"),
    ("list", "--after", "ffffffff"),
    ("conflicts", "--client", "nobody"),
    ("log", "nobody"),
    ("log", "--after", "nonsense"),
    ("export", "o.jsonl", "--status", "bogus"),
    ("import", ""),
    ("pair", "new", "--grant", "raed"),
    ("pair", "new", "--limit", "0"),
    ("pair", "@owner"),
    ("grant", "new", "--grant", "raed"),
    ("resolve", "short", "supersede"),
    ("shot", "--page", "dungeon", "--out", "o.png"),
    ("shot", "--page", "palace", "--out", "o.png", "--size", "big"),
    ("mcp", "--print"),
    ("backup", "--to", ""),
    ("export", ""),
    ("restore", ""),
    ("import", ""),
    ("chat", "--host", "bogus::"),
)


def test_a_wrong_value_ends_with_2_whatever_the_verb(palace: Palace) -> None:
    generated = wrong_calls()
    assert {verb for verb, *_ in generated} >= {
        "list",
        "recall",
        "import",
        "undo",
        "jobs",
        "log",
        "export",
        "completion",
    }
    with palace.shell() as shell:
        for arguments in (*generated, *TYPED):
            refused = shell.run(*arguments)
            assert (refused.code, refused.out) == (2, ""), (arguments, refused)
            assert refused.err.startswith(("Usage: loci ", "E4005: ", "E2004: ")), (arguments, refused.err)
    assert palace.everything() == []


# ---- completion


def completed(script: Path, *words: str) -> list[str]:
    """What bash offers for the last word, with the script that was printed."""
    typed = " ".join(f"'{word}'" for word in words)
    told = "printf '%s\\n' \"${COMPREPLY[@]}\""
    asked = f"source '{script}'; COMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}; _loci; {told}"
    done = subprocess.run(
        ["bash", "--norc", "-c", asked], cwd=script.parent, capture_output=True, timeout=MINUTE_S, check=True
    )
    assert done.stderr == b""
    return sorted(done.stdout.decode().split())


def test_completion_offers_every_verb_and_option(tmp_path: Path) -> None:
    verbs = tuple(list_verbs(loci))
    from app.cli.completion import write_bash_script, write_fish_script, write_zsh_script

    bash, zsh, fish = tmp_path / "bash", write_zsh_script(verbs), write_fish_script(verbs)
    bash.write_text(write_bash_script(verbs), encoding="utf-8")
    names = [verb.name for verb in verbs if verb.name]
    assert completed(bash, "loci", "") == sorted(names)
    assert completed(bash, "loci", "--home", "there", "rec") == ["recall", "receipt"]
    assert completed(bash, "loci", "remember", "x", "--kind", "f") == ["fact"]
    assert completed(bash, "loci", "list", "--sort", "") == ["importance", "newest", "oldest", "said", "trust"]
    assert completed(bash, "loci", "list", "--sort", "=", "") == completed(bash, "loci", "list", "--sort", "")
    assert completed(bash, "loci", "list", "--sort", "=", "tr") == ["trust"]
    assert completed(bash, "loci", "list", "--sort", "=") == completed(bash, "loci", "list", "--sort", "")
    assert "supersede" in completed(bash, "loci", "resolve", "12345678", "")
    assert completed(bash, "loci", "--passphrase-file", "ba") == completed(bash, "loci", "import", "ba") == ["bash"]
    assert completed(bash, "loci", "completion", "z") == ["zsh"]
    assert completed(bash, "loci", "remember", "x", "--time", "") == []
    assert completed(bash, "loci", "list", "--js") == ["--json", "--jsonl"]
    for verb in verbs:
        for option in verb.options:
            for name in option.names:
                assert name in bash.read_text(encoding="utf-8")
                assert name in zsh
                assert f"-l {name[2:]}" in fish or f"-s {name[1:]}" in fish
    for name in names:
        assert f" -a {name} " in fish
        assert f"'{name}:" in zsh
    for shell, script in (("zsh", zsh), ("fish", fish)):
        file = tmp_path / shell
        file.write_text(script, encoding="utf-8")
        assert script.count("'") % 2 == 0 or shell == "fish"
        if any((Path(folder) / shell).exists() for folder in os.environ["PATH"].split(os.pathsep)):
            subprocess.run([shell, "-n", str(file)], timeout=MINUTE_S, check=True)


def test_completion_touches_no_vault(palace: Palace) -> None:
    elsewhere = palace.folder / "nowhere"
    for shell in ("bash", "zsh", "fish"):
        done = palace.bare("--home", str(elsewhere), "completion", shell)
        assert (done.code, done.err) == (0, "")
        assert "remember" in done.out
    assert not elsewhere.exists()


# ---- one of a thing


def test_one_memory_is_one_memory(palace: Palace) -> None:
    file = palace.folder / "row.jsonl"
    file.write_text(json.dumps({"text": BOAT}) + "\n", encoding="utf-8")
    with palace.shell() as shell:
        assert "Would import 1 memory (jsonl)." in shell.run("import", str(file), "--dry-run").out
        assert "Imported 1 memory (jsonl)." in shell.run("import", str(file)).out
        shell.json("pair", "plug")
        said = shell.run("clients").out
        assert "1 client." in said
        assert "0 memories" in said
        assert "(1 episode)" in shell.run("status").out
        assert shell.run("recall", "mooring of the boat").out.splitlines()[-1].startswith("1 found by ")
        assert "1 memory exported" in shell.run("export", str(palace.folder / "o.json")).out


def test_what_was_found_in_a_text_is_said_when_it_is_remembered(palace: Palace) -> None:
    said = palace.json("remember", "Card for the boatyard: 4111 1111 1111 1111")
    assert (said["tier"], said["sensitive"]) == ("confidential", ["credit_card"])
    told = palace.run("remember", "The club's card ends in nothing: 5500 0000 0000 0004").out
    assert "Found in it: card number. It is confidential" in told
    plain = palace.json("remember", BOAT)
    assert (plain["tier"], plain["sensitive"]) == ("cleartext", [])
    assert "Found in it" not in palace.run("remember", KEYS).out


def test_list_and_status_count_a_long_text_once(palace: Palace) -> None:
    palace.json("remember", "The lamp was lit by hand every night of that winter. " * 400)
    palace.json("remember", BOAT)
    listed = palace.json("list", "--status", "all")
    assert listed["total"] > listed["memories"] == palace.json("status")["memories"]["total"] == 2
    assert "Long texts are listed in parts; together that is 2 memories." in palace.run("list").out
