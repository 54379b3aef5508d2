"""What can be seen of an installation and a home without opening the vault: libraries, models, keyring, files, disk.

Must not do: open the vault or ask for a secret, mend anything, name a path below the home.
"""

from __future__ import annotations

import importlib
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from core.belief.relate.pair_model import Runtime, relation_folder
from core.config.help_strings import read_help_strings
from core.embed.embedder import MiniLmEmbedder
from core.engine.home.keys import HomeKeys
from core.errors import Code, LociError
from core.importers.extension.discovery import find_extensions
from core.importers.input.files import printable_name
from core.types.replies import Finding
from core.vault.files.home import RESERVE_BYTES, Home

_MB = 1024 * 1024
_DISK_LOW, _DISK_SPENT = 500 * _MB, 2 * RESERVE_BYTES
_LIBRARIES = ("sqlcipher3", "hnswlib", "onnxruntime", "tokenizers")


def examine_home(home: Home, keys: HomeKeys) -> tuple[Finding, ...]:
    """Look at everything the engine needs.

    Args:
        home: where the vault lives, or would.

    Returns:
        One finding a check, in the order in which things depend on each other; one for importers of other makers
        only where some are installed.
    """
    checks: tuple[Callable[[], Finding], ...] = (
        _check_libraries,
        lambda: _check_model("search_model", MiniLmEmbedder),
        lambda: _check_model("relation_model", lambda: Runtime(relation_folder(), threads=1)),
        lambda: _check_keyring(keys),
        lambda: _check_home(home),
        lambda: _check_disk(home),
        lambda: _check_vault(home, keys),
    )
    return (*(check() for check in checks), *_list_extensions())


def make_finding(check: str, outcome: str, **values: str) -> Finding:
    """A finding in the words of `resources/help/doctor.json`.

    Args:
        check: its name there.
        outcome: what was found, a word of that check.
        **values: what its sentence names.
    """
    wording = read_help_strings("doctor")["checks"][check]
    found = wording["outcomes"][outcome]
    sentence = str(found["says"]).format(**values)
    return Finding(check, str(wording["title"]), str(found["state"]), sentence, str(found.get("do", "")))


def _check_libraries() -> Finding:
    missing = []
    for name in _LIBRARIES:
        try:
            importlib.import_module(name)
        except ImportError:
            missing.append(name)
    if missing:
        return make_finding("libraries", "missing", names=", ".join(missing))
    connection = importlib.import_module("sqlcipher3").connect(":memory:")
    try:
        row = connection.execute("PRAGMA cipher_version").fetchone()
    finally:
        connection.close()
    return make_finding("libraries", "plain") if row is None else make_finding("libraries", "ok", version=str(row[0]))


def _list_extensions() -> Iterator[Finding]:
    """The importers of other makers that are installed; nothing of them is loaded."""
    found = [printable_name(f"{one.name} ({one.package})") for one in find_extensions()]
    if found:
        yield make_finding("importers", "found", names=", ".join(found))


def _check_model(check: str, load: Callable[[], object]) -> Finding:
    try:
        load()
    except LociError as error:
        return make_finding(check, "unusable", sentence=error.sentence)
    return make_finding(check, "ok")


def _check_keyring(keys: HomeKeys) -> Finding:
    return make_finding("keyring", "ok" if keys.keyring_available() else "none")


def _check_home(home: Home) -> Finding:
    if not home.path.exists():
        return make_finding("home", "none")
    if not home.path.is_dir():
        return make_finding("home", "no_directory")
    if not os.access(home.path, os.W_OK | os.X_OK):
        return make_finding("home", "read_only")
    return make_finding(
        "home", "open" if os.name == "posix" and any(map(_is_open_to_others, _list_vault_files(home))) else "ok"
    )


def _list_vault_files(home: Home) -> Iterator[Path]:
    yield home.path
    yield from (path for path in home.path.iterdir() if path.name.startswith(("vault.", "index.")))


def _is_open_to_others(path: Path) -> bool:
    try:
        return bool(stat.S_IMODE(path.lstat().st_mode) & 0o077)
    except OSError:
        return False


def _check_disk(home: Home) -> Finding:
    there = next(path for path in (home.path, *home.path.parents) if path.exists())
    try:
        free = shutil.disk_usage(there).free
    except OSError:
        return make_finding("disk", "unknown")
    outcome = "spent" if free < _DISK_SPENT else "low" if free < _DISK_LOW else "ok"
    return make_finding("disk", outcome, free=f"{free // _MB:,} MB")


def _check_vault(home: Home, keys: HomeKeys) -> Finding:
    presence = keys.read_presence()
    if presence.problem is not None:
        return make_finding("vault", "keys_damaged", sentence=presence.sentence or "")
    if not presence.exists:
        return make_finding("vault", "none")
    try:
        home.need_vault()
    except LociError as error:
        return make_finding("vault", "damaged", sentence=error.sentence)
    try:
        holder = keys.lock_holder()
    except LociError as error:
        return make_finding(
            "vault", "read_only" if error.code is Code.READ_ONLY else "damaged", sentence=error.sentence
        )
    return make_finding("vault", "ok") if holder is None else make_finding("vault", "held", process=str(holder))
