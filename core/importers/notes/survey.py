"""Which files of a folder or vault are notes, boards and attachments, and which are left out.

Must not do: open a file that its name settles, or take a folder called Templates for one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import BadJson, is_hidden, parse_json_text, read_head_text, read_whole_text

SETTINGS = ".obsidian"
TRASH = ".trash"
NOTE_ENDINGS = (".md", ".markdown")
CANVAS_ENDING = ".canvas"
MAX_NOTE = 64 << 20
_TEXT_ENDINGS = (*NOTE_ENDINGS, ".txt")
_TEMPLATE_FOLDERS = ("templates", "_templates")
_DEFAULT_TEMPLATES = ("templates/",)
# Where the two template plugins keep the name of their folder, and under which key.
_TEMPLATE_SETTINGS = (("templates.json", "folder"), ("plugins/templater-obsidian/data.json", "templates_folder"))
_TEMPLATE_MARK = re.compile(r"\{\{\s*(?:title|date|time)\b[^{}\n]*\}\}|<%[-_*+]?\s*tp\.")
_PLACEHOLDER = re.compile(r"\..+\.icloud")


@dataclass(frozen=True, slots=True)
class NotesSurvey:
    """What a vault or folder of notes holds, by paths inside it.

    Attributes:
        root: where it begins inside the bundle, with a slash at the end; empty for the bundle itself.
        notes: text files that become records unless they are empty.
        canvases: boards.
        attachments: files that stay where they are; links to them are kept.
        skipped: (reason, path) of what is left out on purpose.
    """

    root: str
    notes: tuple[str, ...]
    canvases: tuple[str, ...]
    attachments: tuple[str, ...]
    skipped: tuple[tuple[str, str], ...]


def vault_root(bundle: Bundle) -> str | None:
    """Where the outermost folder with `.obsidian/` begins inside the bundle; None without one."""
    roots = [f.name.partition(f"{SETTINGS}/")[0] for f in bundle.files if SETTINGS in f.path.parts[:-1]]
    return min(roots, key=len, default=None)


def survey_notes(bundle: Bundle) -> NotesSurvey:
    """Sort a bundle's files into notes, boards, attachments and what is left out.

    Args:
        bundle: a vault, or a folder of notes.
    """
    root = vault_root(bundle)
    templates = _template_folders(bundle, root) if root is not None else None
    notes: list[str] = []
    canvases: list[str] = []
    attachments: list[str] = []
    skipped: list[tuple[str, str]] = []
    for file in bundle.files:
        path = relative_name(file, root or "")
        lower = path.lower()
        reason = None if bundle.kind == "file" else _skip_reason(file, path, templates)
        if reason:
            skipped.append((reason, path))
        elif lower.endswith(NOTE_ENDINGS if root is not None else _TEXT_ENDINGS) or bundle.kind == "file":
            notes.append(path)
        elif lower.endswith(CANVAS_ENDING):
            canvases.append(path)
        else:
            attachments.append(path)
    return NotesSurvey(root or "", tuple(notes), tuple(canvases), tuple(attachments), tuple(skipped))


def relative_name(file: SourceFile, root: str) -> str:
    """A file's path inside a vault.

    Args:
        file: any file of the bundle.
        root: where the vault begins, as `vault_root` tells.
    """
    return file.name.removeprefix(root)


def _skip_reason(file: SourceFile, path: str, templates: tuple[str, ...] | None) -> str | None:
    folders = path.split("/")[:-1]
    if SETTINGS in folders:
        return "vault_settings"
    if TRASH in folders:
        return "trash"
    if _PLACEHOLDER.fullmatch(file.path.name):
        return "not_downloaded"
    if is_hidden(path):
        return "hidden_file"
    if path.lower().endswith(_TEXT_ENDINGS) and _is_template(file, path, templates):
        return "template"
    return None


def _is_template(file: SourceFile, path: str, templates: tuple[str, ...] | None) -> bool:
    if templates is None:
        return False
    folded = path.casefold()
    if any(folded.startswith(folder) for folder in templates):
        return True
    # A folder called Templates need not hold any; only a note with blanks to fill in is one.
    named = any(part in _TEMPLATE_FOLDERS for part in folded.split("/")[:-1])
    return named and _TEMPLATE_MARK.search(read_head_text(file)) is not None


def _template_folders(bundle: Bundle, root: str) -> tuple[str, ...]:
    """The folders that the vault's own settings name, folded, with a slash at the end."""
    found: list[str] = []
    for name, key in _TEMPLATE_SETTINGS:
        file = bundle.find_file(f"{root}{SETTINGS}/{name}")
        if file is None or file.size > MAX_NOTE:
            continue
        try:
            value = parse_json_text(read_whole_text(file)[0]).value
        except BadJson:
            continue
        folder = value.get(key) if isinstance(value, dict) else None
        if isinstance(folder, str) and folder.strip("/ "):
            found.append(folder.strip("/ ").casefold() + "/")
    return tuple(found) or _DEFAULT_TEMPLATES
