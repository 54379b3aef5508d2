"""What the manual says is so: its commands work in their order, its pages hang together, its files are those built."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from cli_rig import FIXTURES, ROOT, Palace, Shell
from page_commands import code_blocks, read_commands

import build_wheel
import debian_package

MANUAL = ROOT / "docs" / "manual"
PAGES = {path.name: path.read_text(encoding="utf-8") for path in sorted(MANUAL.glob("*.md"))}
ORDER = re.findall(r"^\d+\. \[[^]]+\]\(([a-z-]+\.md)\)", PAGES["index.md"], re.MULTILINE)
INSTALL = PAGES["install.md"]
TYPED_ELSEWHERE = {
    "init",  # the vault is made before the pages begin; test_cli_verbs.py
    "passphrase",  # asks; test_cli_keys.py
    "keyring",  # test_cli_keys.py, with a keyring that is not this machine's
}
SAYS_NO_JSON = {"mcp"}


def told() -> list[tuple[str, list[str]]]:
    """Every command with its page, in the order in which the pages are read."""
    return [
        (name, words)
        for name in ORDER
        for block in code_blocks(PAGES[name])
        for words in read_commands(block.splitlines())
    ]


def test_the_pages_are_those_of_the_list_and_of_the_book() -> None:
    assert {"index.md", *ORDER} == set(PAGES)
    assert len(ORDER) == 10
    book = yaml.safe_load((ROOT / "packaging" / "release" / "mkdocs.yml").read_text(encoding="utf-8"))
    manual, reference = (next(iter(part.values())) for part in book["nav"])
    assert [next(iter(entry.values())) for entry in manual] == [f"manual/{name}" for name in ("index.md", *ORDER)]
    for entry in (*manual, *reference):
        (path,) = entry.values()
        assert (ROOT / "docs" / path).is_file()
    titles = [next(iter(entry)) for entry in manual][1:]
    listed = re.findall(r"^\d+\. \[([^]]+)\]", PAGES["index.md"], re.MULTILINE)
    assert titles == listed
    for title, name in zip(titles, ORDER, strict=True):
        heading = PAGES[name].splitlines()[0]
        assert heading.startswith(f"# {title}") or (title, heading) == ("Backup", "# Backup and other machines")


def test_the_files_to_install_have_the_names_that_are_built() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    named = set(re.findall(r"[\w.-]+\.(?:deb|AppImage|whl)\b", INSTALL))
    assert {f"Loci-{version}-x86_64.AppImage", f"{debian_package.NAME}_{version}_amd64.deb"} < named
    (wheel,) = (name for name in named if name.endswith(".whl"))
    glibc = build_wheel.newest_glibc(b"\0GLIBC_2.34\0")
    assert re.fullmatch(rf"loci_palace-{re.escape(version)}-cp3\d\d-cp3\d\d-manylinux_2_{glibc}_x86_64\.whl", wheel)
    assert "python3 packaging/bootstrap.py run" in INSTALL
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"[\w.-]+\.(?:deb|AppImage|whl)\b", readme)) <= named
    for script in re.findall(r"packaging/release/\w+\.py", readme):
        assert (ROOT / script).is_file()


def test_every_verb_and_flag_that_is_named_exists(palace: Palace) -> None:
    spoken = re.findall(r"`loci ([a-z-]+)([^`]*)`", " ".join(" ".join(PAGES.values()).split()))
    asked = [(verb, rest.split()) for verb, rest in spoken] + [(verb, rest) for _, (_, verb, *rest) in told()]
    assert len(asked) > 60
    with palace.shell() as shell:
        verbs = {line.split()[0] for line in shell.run("--help").out.partition("Commands:")[2].splitlines() if line}
        helped = {verb: shell.run(verb, "--help").out for verb in sorted({verb for verb, _ in asked} & verbs)}
    for verb, arguments in asked:
        assert verb in verbs, verb
        for argument in arguments:
            assert not argument.startswith("--") or re.search(rf"{argument}\b", helped[verb]), (verb, argument)


@pytest.mark.slow
def test_the_commands_of_the_manual_work_in_their_order(palace: Palace, tmp_path: Path) -> None:
    """With real files in place of the ones a person would name, and what is asked for given in files."""
    secret, copy = tmp_path / "seal.secret", tmp_path / "boat.loci-backup"
    secret.write_text("nine loud cormorants\n", encoding="utf-8")
    secret.chmod(0o600)
    shared = tmp_path / "Shared"
    shared.mkdir()
    places = {
        "~/Downloads/chatgpt-export.zip": str(next((FIXTURES / "chatgpt").iterdir())),
        "~/Notes": str(FIXTURES / "obsidian" / "Harbour Notes"),
        "~/Shared": str(shared),
        "~/boat.loci-backup": str(copy),
        "all.loci": str(tmp_path / "all.loci"),
        "memories.jsonl": str(tmp_path / "memories.jsonl"),
    }
    extra: dict[str, Callable[[list[str]], list[str]]] = {
        "export": lambda words: ["--archive-passphrase-file", str(secret)] if "--encrypted" in words else [],
        "seal-key": lambda words: ["--new-passphrase-file", str(secret)],
        "seal": lambda words: ["--sealed-passphrase-file", str(secret), "--yes"],
        "unseal": lambda words: ["--sealed-passphrase-file", str(secret)],
    }
    told_ids: dict[str, str] = {}
    ran = 0
    with palace.shell() as shell:
        for page, (_, verb, *arguments) in told():
            if verb in TYPED_ELSEWHERE:
                continue
            given = [places.get(word, told_ids.get(word, word)) for word in arguments]
            more = extra[verb](arguments) if verb in extra else []
            done = shell.run(verb, *given, *more, *([] if verb in SAYS_NO_JSON else ["--json"]))
            assert done.code == 0, (page, verb, arguments, done.err)
            if verb not in SAYS_NO_JSON:
                note(shell, told_ids, verb, done.document)
            ran += 1
    assert ran > 50
    assert (tmp_path / "all.loci").is_file()
    assert (tmp_path / "memories.jsonl").is_file()
    assert copy.is_file()


def note(shell: Shell, told_ids: dict[str, str], verb: str, reply: dict[str, object]) -> None:
    """Keep what later commands name."""
    if verb == "import" and reply.get("import_id"):
        told_ids["IMPORT_ID"] = str(reply["import_id"])
    elif verb in ("list", "edit", "undo", "resolve", "forget", "erase"):
        found = shell.json("list", "--limit", "50")["items"]
        standing = [str(item["id"]) for item in found if "mooring is paid" in item["text"]]
        told_ids["ID"] = standing[0] if standing else str(found[0]["id"])
    elif verb == "remember" and reply.get("conflict"):
        told_ids["CONFLICT_ID"] = str(reply["conflict"])
    elif verb == "backup":
        told_ids["FILE"] = str(reply["path"])
