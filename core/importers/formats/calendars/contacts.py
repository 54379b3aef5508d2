"""An address book as vCard has it (`.vcf`), of versions 2.1 to 4: a card is one record.

Its text says the name and then, a line each, what is known. Must not do: store a picture or a key, or take a card for
the person themself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.importers.document import Document
from core.importers.formats.calendars.content_lines import Component, ContentLine, read_components
from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import read_file_lines, read_head_text, visible_files
from core.importers.records import Item, SkippedPart

_FORMAT = "contacts"
_KINDS = frozenset({"VCARD"})
_BEGINS = re.compile(r"\s*BEGIN:VCARD\s*$", re.IGNORECASE | re.MULTILINE)
_TOLD = (
    ("NICKNAME", "Nickname"), ("ORG", "Organization"), ("TITLE", "Title"), ("ROLE", "Role"), ("TEL", "Phone"),
    ("EMAIL", "Email"), ("ADR", "Address"), ("BDAY", "Birthday"), ("ANNIVERSARY", "Anniversary"), ("URL", "Web"),
    ("IMPP", "Chat"), ("RELATED", "Related"), ("X-ABRELATEDNAMES", "Related"), ("NOTE", "Note"),
)  # fmt: skip
_NO_KIND = frozenset({"PREF", "INTERNET", "VOICE", "X400", "QUOTED-PRINTABLE", "TEXT", "UTF-8"})
_LABEL = re.compile(r"_\$!<(.*)>!\$_$")


class ContactsImporter:
    """Reads address books."""

    @property
    def format(self) -> str:
        """`contacts`."""
        return _FORMAT

    def detects(self, bundle: Bundle) -> bool:
        """Whether a file begins as a card does."""
        return any(_is_book(file) for file in _card_files(bundle)[:50])

    def read(self, bundle: Bundle) -> Iterator[Item]:
        """Yield the cards in file order; see `records.Importer`."""
        files = [file for file in _card_files(bundle) if bundle.kind == "file" or _is_book(file)]
        for file in files:
            lines = read_file_lines(file)
            for component in read_components(lines, _KINDS):
                yield _make_item(component, f"{file.name}:{component.number}", lines.flags)
        if len(bundle.files) > len(files):
            yield SkippedPart("not_cards", bundle.label, len(bundle.files) - len(files))


def _card_files(bundle: Bundle) -> list[SourceFile]:
    files = visible_files(bundle)
    return files if bundle.kind == "file" else [one for one in files if one.path.suffix.lower() in (".vcf", ".vcard")]


def _is_book(file: SourceFile) -> bool:
    return _BEGINS.match(read_head_text(file, 1_024)) is not None


def _make_item(card: Component, where: str, flags: set[str]) -> Item:
    firm = card.first("ORG")
    name = card.text_of("FN") or _join_name(card.first("N")) or (_read_value(firm) if firm is not None else "")
    lines = [f"{label}{_kind_of_line(line)}: {value}" for part, label in _TOLD for line in card.all_of(part)
             if (value := _read_value(line))]  # fmt: skip
    if not name and not lines:
        return SkippedPart("no_text", where)
    return Document(
        form=_FORMAT,
        text="\n".join([name, *lines] if name else lines),
        where=where,
        key=card.text_of("UID") or None,
        title=name or None,
        tags=[tag.strip() for line in card.all_of("CATEGORIES") for tag in line.text.split(",")],
        flags=flags,
    ).to_item()


def _join_name(line: ContentLine | None) -> str:
    """A name of parts (`Vik;Åse;Marie;Dr.;`) in the order in which it is spoken."""
    if line is None:
        return ""
    family, given, more, before, after = [*line.parts(), "", "", "", "", ""][:5]
    return " ".join(part.strip() for part in (before, given, more, family, after) if part.strip())


def _read_value(line: ContentLine) -> str:
    if line.name in ("ADR", "ORG"):
        return ", ".join(part.strip().replace("\n", ", ") for part in line.parts() if part.strip())
    return _LABEL.sub(r"\1", line.text.strip().removeprefix("tel:").removeprefix("mailto:"))


def _kind_of_line(line: ContentLine) -> str:
    """Which of several it is: ` (work)`."""
    kinds = [kind.strip() for kind in line.parameters.get("TYPE", "").split(",")]
    told = [kind.casefold() for kind in kinds if kind and kind.upper() not in _NO_KIND]
    return f" ({', '.join(dict.fromkeys(told))})" if told else ""
