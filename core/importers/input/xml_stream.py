"""XML of strangers, element by element, with a document of any size in memory no more than one piece at a time.

Must not do: resolve an entity that a document declares, load what it refers to, or recurse.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from xml.parsers import expat

from core.importers.input.files import refused_file_error
from core.importers.input.source import SourceFile

_CHUNK = 1 << 18
_DEEPEST = 512


@dataclass(frozen=True, slots=True)
class XmlEvent:
    """What happens next in a document.

    Attributes:
        path: names of the elements that are open, the innermost last, without their namespaces.
        kind: `open`, `text` or `close`.
        text: words, for `text`.
        attributes: of the element that opens, without their namespaces.
    """

    path: tuple[str, ...]
    kind: str
    text: str = ""
    attributes: dict[str, str] = field(default_factory=dict)


class _UnsafeXmlError(Exception):
    """The document declares entities of its own, or is nested like none a program writes."""


class _EventQueue:
    """Collects what the parser tells of one piece."""

    def __init__(self) -> None:
        self.events: list[XmlEvent] = []
        self._path: tuple[str, ...] = ()

    def open_element(self, name: str, attributes: dict[str, str]) -> None:
        """Take an opening tag."""
        self._path = (*self._path, _local(name))
        if len(self._path) > _DEEPEST:
            raise _UnsafeXmlError
        found = {_local(key): value for key, value in attributes.items()}
        self.events.append(XmlEvent(self._path, "open", attributes=found))

    def close_element(self, _name: str) -> None:
        """Take a closing tag."""
        self.events.append(XmlEvent(self._path, "close"))
        self._path = self._path[:-1]

    def add_text(self, text: str) -> None:
        """Take words, which come in pieces."""
        self.events.append(XmlEvent(self._path, "text", text))


def _local(name: str) -> str:
    return name.rpartition(":")[2]


def _refuse_entity(*_declared: object) -> None:
    raise _UnsafeXmlError


def iter_xml(file: SourceFile) -> Iterator[XmlEvent]:
    """Read a file as XML.

    Args:
        file: any file of a bundle.

    Yields:
        Elements and words in order; the words of one element may come in several pieces.

    Raises:
        UserError: IMPORT_REFUSED for what is no XML, declares entities, or is nested over 512 levels.
    """
    queue = _EventQueue()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = queue.open_element
    parser.EndElementHandler = queue.close_element
    parser.CharacterDataHandler = queue.add_text
    parser.EntityDeclHandler = _refuse_entity
    with closing(file.open()) as stream:
        is_done = False
        while not is_done:
            chunk = stream.read(_CHUNK)
            is_done = not chunk
            try:
                parser.Parse(chunk, is_done)
            except _UnsafeXmlError:
                raise refused_file_error(file.name, "is XML that no program writes") from None
            except expat.ExpatError as error:
                line = error.lineno
                raise refused_file_error(file.name, f"is not valid XML (near line {line})") from None
            events, queue.events = queue.events, []
            yield from events
