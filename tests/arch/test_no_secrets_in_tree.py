"""Nothing of this or any machine is in the tree: no registry, no address of a download, no home, no key.

And no code opens the files of a vault beside SQLCipher: an ordinary open and close of one of them drops SQLite's
locks, and a second process then gets the write lock (B21 of the reliability study).
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from arch_tree import PRODUCT, ROOT, name_of, own_files, parsed, python_files, walk

# Written in pieces, so that this file does not find itself.
REGISTRIES = (
    "py" + "pi.org",
    "python" + "hosted",
    "registry.npm" + "js",
    "npm" + "js.org",
    "crates" + ".io",
    "proxy.go" + "lang",
)
MACHINES = re.compile(
    r"(?<![\w.~/-])/(?:" + "work/(?:main|shared|\\.)" + "|" + "root/" + "|" + "opt/wheels" + "|tmp/plan)"
)
KEYS = re.compile(r"-----BEGIN [A-Z ]*PRIVATE" + " KEY-----")
# Data of others, where an address is part of what was said.
DATA = ("tests/fixtures/", "resources/model/")

OPENS = {
    "open",
    "read_bytes",
    "read_text",
    "write_bytes",
    "write_text",
    "touch",
    "mmap",
    "copy",
    "copy2",
    "copyfile",
    "ZipFile",
}
VAULT_FILE = re.compile(r"vault\.db|\bdb_(?:path|file)\b|\b(?:wal|shm)_(?:path|file)\b|-(?:wal|shm)\b")
# File to reason.
MAY_OPEN: dict[str, str] = {}


def text_of(path: Path) -> str | None:
    """A text file's content, None for anything else."""
    data = path.read_bytes()
    return None if b"\0" in data[:8192] else data.decode("utf-8", errors="replace")


def complaints(text: str) -> list[str]:
    """What a text says that it must not."""
    lowered = text.lower()
    found = [f"names a registry: {host}" for host in REGISTRIES if host in lowered]
    found += [f"names a path of a machine: {match.group()}" for match in MACHINES.finditer(text)]
    found += ["holds a private key"] * bool(KEYS.search(text))
    return found


def test_no_machine_and_no_registry_in_the_tree() -> None:
    found = {}
    for path in own_files():
        text = None if name_of(path).startswith(DATA) else text_of(path)
        if text is not None and (said := complaints(text)):
            found[name_of(path)] = said
    assert not found


def test_no_environment_or_vault_is_kept_in_the_tree() -> None:
    kept = [
        name_of(path)
        for path in own_files()
        if path.name in {".env", "vault.keys", "vault.head", "id_rsa", "id_ed25519"}
        and not name_of(path).startswith("tests/vaults/")
    ]
    assert not kept


def vault_file_opens(tree: ast.Module) -> list[int]:
    """Lines on which a file of a vault seems to be opened as an ordinary file."""
    lines = []
    for node in walk(tree):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in OPENS and VAULT_FILE.search(ast.unparse(node)):
                lines.append(node.lineno)
    return lines


def test_no_code_opens_the_files_of_a_vault() -> None:
    found = {name_of(path): vault_file_opens(parsed(path)) for path in python_files(*PRODUCT)}
    assert not {name: lines for name, lines in found.items() if lines and name not in MAY_OPEN}


def test_files_that_may_open_them_still_do() -> None:
    assert {name for name in MAY_OPEN if vault_file_opens(parsed(ROOT / name))} == set(MAY_OPEN)


@pytest.mark.parametrize(
    "source",
    ['open(home / "vault.db")', "db_path.read_bytes()", 'shutil.copy(f"{path}-wal", to)', "os.open(self.wal_path, 0)"],
)
def test_the_check_sees_an_open(source: str) -> None:
    assert vault_file_opens(ast.parse(source)) == [1]


@pytest.mark.parametrize(
    "text",
    ["see https://PY" + "PI.org/x", "cd /work/" + "main", "'/ro" + "ot/.pyenv'", "-----BEGIN EC PRIVATE" + " KEY-----"],
)
def test_the_check_sees_a_word(text: str) -> None:
    assert complaints(text)


def test_the_check_leaves_other_words_alone() -> None:
    assert not complaints("the root/branch, ~/work/" + "main of a person, homework/" + "shared, public key")
