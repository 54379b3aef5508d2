"""What a wipe says before and after, in lines: the same on the command line and in the window.

Must not do: decide what is removed, or say more than the preview and the report hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from core.config.help_strings import format_count, read_help_strings
from core.types.files.wipe import DevicesTold, OutsideCopy, WipePreview, WipeReport

_INDENT = "  "
_KB = 1024
_UNITS = ("bytes", "kB", "MB", "GB")
_TENTHS_BELOW = 10


def wipe_words() -> Mapping[str, Any]:
    """The sentences of `resources/help/wipe.json`."""
    found: Mapping[str, Any] = read_help_strings("wipe")
    return found


def preview_lines(preview: WipePreview) -> list[str]:
    """What would be removed, which copies are known, and what stays."""
    words = wipe_words()
    return [
        *warning_lines(preview),
        words["goes"]["title"],
        *_indent(_list_going(preview)),
        "",
        words["copy"]["title"],
        *_indent(_list_copies(preview)),
        "",
        words["stays"]["title"],
        *_indent(_list_staying(preview)),
    ]


def warning_lines(preview: WipePreview) -> list[str]:
    """What would be lost, as far as it is known; with an empty line behind it where there is anything."""
    words, copy = wipe_words()["warning"], preview.copy
    found = []
    has_devices = bool(preview.devices) and (preview.is_folder_there or not preview.pending)
    if preview.is_readable and not preview.memories:
        return []
    if copy is None and not has_devices:
        found.append(words["only"])
    elif copy is not None and copy.newer and not has_devices:
        found.append(words["newer"])
    elif copy is None and preview.files:
        found.append(words["files"])
    return [*found, ""] if found else []


def report_lines(report: WipeReport) -> list[str]:
    """What was removed, and what the person still has to do."""
    words = wipe_words()["report"]
    head = [words["title"], words["at"].format(when=_show_time(report.at)), words["home"].format(home=report.home), ""]
    if report.is_complete:
        head.append(words["complete"])
    else:
        head += [words["incomplete"], *_indent(report.left)]
    if report.preview is None:
        head.append(words["interrupted"])
    elif report.preview.is_readable:
        head.append(format_count(words["had"], report.preview.memories))
    return [
        *head,
        "",
        words["done"],
        *_indent(_list_done(report)),
        "",
        words["by_hand"],
        *_indent(_list_by_hand(report)),
    ]


def _list_going(preview: WipePreview) -> Iterator[str]:
    words = wipe_words()["goes"]
    yield words["home"].format(home=preview.home, size=_show_size(preview.size))
    if preview.is_readable:
        sealed = f" ({format_count(words['sealed'], preview.sealed)})" if preview.sealed else ""
        yield format_count(words["memories"], preview.memories) + sealed
        if preview.files:
            yield format_count(words["files"], preview.files)
    else:
        yield words["unreadable"]
    if preview.backups:
        yield format_count(words["backups"], preview.backups)
    yield words["rest"]
    yield words["keyring"]
    if preview.registered:
        yield words["registered"]
        yield from _indent(preview.registered)


def _list_copies(preview: WipePreview) -> Iterator[str]:
    words = wipe_words()["copy"]
    yield from _describe_copy(preview.copy)
    if preview.devices:
        yield words["devices"].format(names=", ".join(preview.devices))
        if preview.files:
            yield words["files"]
        if not preview.is_folder_there:
            yield words["no_folder"].format(folder=preview.folder)
        elif preview.pending:
            yield format_count(words["pending"], preview.pending)


def _describe_copy(copy: OutsideCopy | None) -> Iterator[str]:
    words = wipe_words()["copy"]
    if copy is None:
        yield words["none"]
        return
    yield words[copy.kind.value].format(when=_show_time(copy.at))
    yield format_count(words["newer"], copy.newer) if copy.newer else words["current"]
    yield words["check"]


def _list_staying(preview: WipePreview) -> Iterator[str]:
    words = wipe_words()["stays"]
    yield words["copies"]
    if preview.plain_exports:
        yield format_count(words["exports"], preview.plain_exports)
    if preview.folder:
        yield words["folder"].format(folder=preview.folder)
    if preview.clients:
        yield words["clients"].format(names=", ".join(preview.clients))
    if preview.foreign:
        yield words["foreign"].format(names=", ".join(preview.foreign))
    yield words["program"]
    yield words["disk"]


def _list_done(report: WipeReport) -> Iterator[str]:
    words = wipe_words()["report"]
    yield format_count(words["keys"], report.overwritten)
    yield format_count(words["files"], report.removed, size=_show_size(report.size))
    is_pending = not (report.is_home_gone or report.kept or report.left)  # sockets of this very process are in it
    yield words["gone" if report.is_home_gone else "later" if is_pending else "stands"]
    if report.is_keyring_clear is not None:
        yield words["keyring" if report.is_keyring_clear else "keyring_left"]
    if report.devices is DevicesTold.TOLD:
        yield words["told"]
    if report.registered.removed:
        yield words["registered"]
        yield from _indent(report.registered.removed)
        yield words["registered_copy"]
    if report.links:
        yield words["links"].format(names=", ".join(report.links))


def _list_by_hand(report: WipeReport) -> Iterator[str]:
    words, preview = wipe_words()["report"], report.preview
    if report.devices is DevicesTold.UNTOLD:
        yield words["untold"]
    if report.registered.left:
        yield words["unregistered"]
        yield from _indent(report.registered.left)
    if report.registered.unread:
        yield words["unread"]
        yield from _indent(report.registered.unread)
    yield words["copies"]
    if preview is not None and preview.plain_exports:
        yield format_count(words["exports"], preview.plain_exports)
    if preview is not None and preview.folder:
        yield words["folder"].format(folder=preview.folder)
    if preview is not None and preview.clients:
        yield words["clients"].format(names=", ".join(preview.clients))
    if report.kept:
        yield words["foreign"].format(home=report.home, names=", ".join(report.kept))
    yield words["originals"]
    yield words["program"]


def _indent(lines: Sequence[str] | Iterator[str]) -> list[str]:
    return [f"{_INDENT}{line}" for line in lines]


def _show_time(at: int) -> str:
    return datetime.fromtimestamp(at / 1000).astimezone().strftime("%Y-%m-%d %H:%M")


def _show_size(size: int) -> str:
    shown, unit = float(size), 0
    while shown >= _KB and unit + 1 < len(_UNITS):
        shown, unit = shown / _KB, unit + 1
    return f"{shown:.1f} {_UNITS[unit]}" if unit and shown < _TENTHS_BELOW else f"{shown:,.0f} {_UNITS[unit]}"
