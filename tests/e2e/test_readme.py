"""What the README and the pages of docs say is so: commands and files are there, lists are whole, examples work."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from cli_rig import FIXTURES, ROOT, Palace, Shell
from page_commands import read_commands

from core.errors import Code, LociError
from core.importers.front_matter import plain_name
from core.importers.rows import FIELDS

TESTED_APART = {
    "init", "serve", "unlock", "bench", "chat", "mcp", "passphrase", "keyring", "completion",
    "demo", "shot",  # each builds the sample palace: test_tour.py, test_shot.py
}  # fmt: skip
README = (ROOT / "README.md").read_text(encoding="utf-8")
FORMAT_WORDS = {
    "chatgpt": "ChatGPT",
    "claude": "Claude (both export shapes)",
    "claude-code": "Claude Code",
    "codex": "Codex",
    "obsidian": "Obsidian and Markdown",
    "markdown": "Obsidian and Markdown",
    "text": "plain text",
    "lines": "plain text",
    "jsonl": "JSONL",
    "csv": "CSV",
    "mem0": "mem0",
    "openmemory": "OpenMemory",
    "mcp-memory": "MCP memory",
    "whatsapp": "WhatsApp",
    "telegram": "Telegram",
    "signal": "Signal",
    "slack": "Slack",
    "discord": "Discord",
    "mail": "mail (mbox/Maildir/EML)",
    "gemini": "Gemini (Takeout)",
    "gemini-cli": "Gemini CLI",
    "grok": "Grok",
    "copilot": "Microsoft Copilot",
    "perplexity": "Perplexity",
    "aider": "Aider",
    "keep": "Google Keep",
    "evernote": "Evernote",
    "day-one": "Day One",
    "roam": "Roam",
    "joplin": "Joplin",
    "calendar": "calendars (ICS)",
    "contacts": "address books (VCF)",
    "kindle": "Kindle clippings",
    "bookmarks": "bookmarks",
    "docx": "Word documents (DOCX)",
    "opencode": "OpenCode",
    "continue": "Continue",
    "cursor": "Cursor",
    "imessage": "iMessage",
    "notion": "Notion",
    "pdf": "PDF",
    "html": "web pages (HTML)",
    "org": "Org",
    "pictures": "captions of pictures",
    "mixed": "folders and archives of all these",
}


def section(title: str) -> str:
    """The words below a heading, up to the next one."""
    return README.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]


def block(title: str) -> list[str]:
    """The lines of the first code block below a heading."""
    return section(title).split("```")[1].strip("\n").splitlines()


def commands() -> list[list[str]]:
    """Every `loci` command of the README as words."""
    return list(read_commands(block("On the command line")))


def test_a_script_gives_the_passphrase_as_the_readme_says(palace: Palace) -> None:
    given = re.search(r"`loci (--[a-z-]+) FILE …`, or `([A-Z_]+)=FILE`", section("On the command line"))
    assert given is not None
    option, variable = given.groups()
    place, secret = ("--home", str(palace.home)), str(palace.secret)
    assert palace.bare(*place, option, secret, "status").code == 0
    assert palace.bare(*place, "status", variables={variable: secret}).code == 0
    assert palace.bare(*place, "status").code != 0


def test_every_command_of_the_readme_exists_with_its_flags(palace: Palace) -> None:
    said = commands()
    assert len(said) >= 15
    with palace.shell() as shell:
        verbs = {line.split()[0] for line in shell.run("--help").out.partition("Commands:")[2].splitlines() if line}
        for _, verb, *arguments in said:
            assert verb in verbs
            helped = shell.run(verb, "--help").out
            for argument in arguments:
                assert not argument.startswith("--") or re.search(rf"{argument}\b", helped), (verb, argument)


def test_the_commands_of_the_readme_work_in_their_order(palace: Palace, tmp_path: Path) -> None:
    """With real files in place of the ones a person would name."""
    told: dict[str, str] = {}
    export = FIXTURES / "chatgpt"
    places = {
        "~/Downloads/chatgpt-export.zip": str(next(export.iterdir())),
        "~/Notes": str(FIXTURES / "obsidian" / "Harbour Notes"),
        "~/Documents/lease.pdf": str(FIXTURES / "pdf" / "input" / "Rules of the slip.pdf"),
        "~/Desktop": str(tmp_path),
    }
    secret = tmp_path / "archive.secret"
    secret.write_text("seven quiet herons\n", encoding="utf-8")
    secret.chmod(0o600)
    with palace.shell() as shell:
        for _, verb, *arguments in commands():
            if verb in TESTED_APART or "-" in arguments:
                continue
            given = [places.get(word, told.get(word, word)) for word in arguments]
            if "--encrypted" in arguments:
                given += ["--archive-passphrase-file", str(secret)]  # a person types it twice
            if verb == "seal-key":
                given += ["--new-passphrase-file", str(secret)]
            elif verb in ("seal", "unseal") or (verb == "sealed" and arguments):
                given += ["--sealed-passphrase-file", str(secret), *(["--yes"] if verb == "seal" else [])]
            reply = shell.json(verb, *given)
            _note(shell, told, verb, reply)
        assert "mooring" in shell.json("recall", "when is the mooring due?")["items"][0]["text"]


def _note(shell: Shell, told: dict[str, str], verb: str, reply: dict[str, object]) -> None:
    """Keep what later commands name."""
    if verb == "import":
        told["IMPORT_ID"] = str(reply["import_id"])
    elif verb == "recall":
        told["RECEIPT_ID"] = str(reply["receipt"])
    elif verb == "list":
        told["ID"] = str(shell.json("list", "--text", "mooring")["items"][0]["id"])
    elif verb == "edit":
        told["ID"] = str(reply["memory_id"])
    elif verb == "conflicts":
        held = shell.json("remember", "The boat's mooring is paid until October.", "--source", "document")
        told["CONFLICT_ID"] = str(held["conflict"])
    elif verb == "attach":
        told["FILE_ID"] = str(reply["file"]["id"])  # type: ignore[index]  # a reply of JSON
    elif verb == "backup":
        told["FILE"] = str(reply["path"])


def test_the_formats_are_all_named(palace: Palace) -> None:
    text = " ".join(section("On the command line").split())
    (listed,) = re.findall(r"Import formats: (.*?)\. What an encrypted archive", text)
    helped = palace.bare("import", "--help").out
    (known,) = re.findall(r"\[([a-z0-9|-]+)\]", "".join(helped.split()))
    assert set(known.split("|")) == set(FORMAT_WORDS)
    named = [word.strip() for word in listed.split(",")]
    assert set(named) == {*FORMAT_WORDS.values(), "encrypted archive"}  # that one is never guessed: it says what it is


def test_the_exit_codes_are_those_of_the_program() -> None:
    text = " ".join(section("On the command line").split())
    (listed,) = re.findall(r"Exit codes: (.*?)\.", text)
    said = dict(part.strip().split(" ", 1) for part in listed.split(","))
    assert list(said) == [str(number) for number in range(9)]
    words = {
        Code.VAULT_BUSY: "another process",
        Code.VAULT_LOCKED: "locked",
        Code.WRONG_SECRET: "wrong secret",
        Code.KEY_FILE_DAMAGED: "key file damaged",
        Code.VAULT_DAMAGED: "vault damaged",
        Code.NEWER_VERSION: "newer version",
        Code.DISK_FULL: "disk full",
        Code.INVALID_INPUT: "wrong value",
        Code.NOT_FOUND: "refused",
    }
    for code, phrase in words.items():
        assert phrase in said[str(LociError(code, "x").exit_code)]


def test_the_files_of_a_home_are_the_ones_that_are_told(palace: Palace) -> None:
    palace.json("remember", "The boat is blue.")
    with palace.serving():
        palace.json("recall", "boat")
        told: set[str] = set()
        for line in block("Where the data lives"):
            names = [name.strip().rstrip("/") for name in re.split(r",|\s{2,}", line)]
            words = [name for name in names if re.fullmatch(r"[a-z]+\.?[a-z]*|\.bak|-wal|-shm", name)]
            for name in words:
                told.add({"-wal": "vault.db-wal", "-shm": "vault.db-shm", ".bak": "vault.keys.bak"}.get(name, name))
            told.update(part.rstrip("/") for part in re.findall(r"\b([a-z]+)/", line))
        found = {path.name for path in palace.home.iterdir()} - {".gitignore", "run"}
        assert found <= told
        assert {name for name in told if "." in name or name in ("backups", "logs")} - found <= {
            "index.snap",
            "guesses.json",
        }
    assert (palace.home / "index.snap").is_file()


def test_the_map_shows_the_tree() -> None:
    rows = dict(re.findall(r"^ *([a-z]+(?:, [a-z]+)?)/? {2,}(\S.*)$", "\n".join(block("The map")), re.MULTILINE))
    named = {name for group in rows for name in group.split(", ")}
    rooms = {path.name for path in (ROOT / "core").iterdir() if (path / "__init__.py").is_file()}
    modules = {path.stem for path in (ROOT / "core").glob("[a-z]*.py")}
    assert rooms | modules <= named
    for name in named:
        places = [ROOT / name, ROOT / "core" / name, ROOT / "core" / f"{name}.py"]
        there = any(place.is_file() or (place.is_dir() and any(place.iterdir())) for place in places)
        (words,) = (text for group, text in rows.items() if name in group.split(", "))
        assert there or "later" in words, f"the map shows {name}, which is not there"


def test_the_two_commands_are_the_ones_ci_calls() -> None:
    said = [line.split("#")[0].strip() for line in block("Two commands")]
    assert said == ["python3 packaging/bootstrap.py run", "python3 packaging/bootstrap.py test"]
    assert said[1] in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert (ROOT / "packaging" / "bootstrap.py").is_file()


@pytest.mark.parametrize(
    "page", ["README.md", *(path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs").rglob("*.md")))]
)
def test_every_link_leads_somewhere(page: str) -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", (ROOT / page).read_text(encoding="utf-8"))
    assert [link for link in links if not ((ROOT / page).parent / link).exists()] == []


IMPORTS = (ROOT / "docs" / "imports.md").read_text(encoding="utf-8")


def test_the_examples_of_the_page_on_imports_come_in_as_it_says(palace: Palace) -> None:
    examples = re.findall(r"^```(jsonl|csv)\n(.*?)^```$.*?^```json\n(.*?)^```$", IMPORTS, re.MULTILINE | re.DOTALL)
    assert [suffix for suffix, _, _ in examples] == ["jsonl", "csv"]
    with palace.shell() as shell:
        for suffix, rows, promised in examples:
            path = palace.folder / f"rows.{suffix}"
            path.write_text(rows, encoding="utf-8")
            report = shell.json("import", str(path))
            assert json.loads(promised).items() <= report.items()
            assert shell.json("import", str(path))["stored"] == 0  # the same twice is stored once
        found = {item["text"]: item for item in shell.json("list", "--status", "all", "--limit", "50")["items"]}
    (moved,) = (item for text, item in found.items() if text.startswith("Nora moved"))
    assert (moved["occurred_at"][:19], moved["session"], moved["ref"]) == ("2026-03-14T17:20:00", "chat-1", "m-1")
    (mooring,) = (item for text, item in found.items() if "mooring" in text)
    assert {key: mooring[key] for key in ("kind", "category", "importance", "tags", "space", "occurred_at")} == {
        "kind": "fact", "category": "boat", "importance": 0.7, "tags": ["boat", "money"], "space": "harbour",
        "occurred_at": None,
    }  # fmt: skip
    assert found["Never book the night ferry."]["extra"]["fields"] == {"mood": "firm"}
    assert found["Dentist on Tuesday, half past nine."]["importance"] == 0.4
    assert 'She said: "bring the ladder".\nAnd the long rope.' in found
    assert "=SUM(B2:B9) is the sum of the fuel bills." in found


def test_the_fields_of_the_page_on_imports_are_those_of_the_importer() -> None:
    rows = re.findall(r"^\| (`[a-z_]+`(?:, `[a-z_]+`)?) \|([^|]*)\|", IMPORTS, re.MULTILINE)
    told = {
        name: {plain_name(name), *(plain_name(other) for other in others.split(",") if other.strip())}
        for names, others in rows
        for name in re.findall(r"`([a-z_]+)`", names)
    }
    assert told == {name: set(names) for name, names in FIELDS.items()}
