"""The lines of calendars and cards: names, parameters and values, folded and escaped as iCalendar and vCard have it.

Must not do: hold more than one component, or lose a line that is longer than any should be.
"""

from __future__ import annotations

import quopri
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from core.importers.input.strict_json import decode_ladder

_LINE = re.compile(
    r"(?:[A-Za-z0-9_-]{1,60}\.)?([A-Za-z0-9_-]{1,60})((?:;(?:[^\":;]++|\"[^\"]*+\")*+)*+):(.*)$", re.DOTALL
)
_PARAMETER = re.compile(r";([A-Za-z0-9_-]{1,60})(?:=((?:[^\":;]++|\"[^\"]*+\")*+))?")
_ESCAPE = re.compile(r"\\([\\;,nN:])")
_QUOTED_END = re.compile(r"=\s*$")
_MOST_LINES = 20_000
_LONGEST = 1 << 20


@dataclass(frozen=True, slots=True)
class ContentLine:
    """One line.

    Attributes:
        name: in capitals.
        value: as written, unfolded.
        parameters: names in capitals; what stands without a name has the name `TYPE`.
    """

    name: str
    value: str
    parameters: dict[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The value as text: escapes resolved."""
        return _ESCAPE.sub(lambda found: "\n" if found[1] in "nN" else found[1], self.value)

    def parts(self) -> list[str]:
        """The parts of a value in parts (`Vik;Åse;;`), resolved."""
        return [ContentLine(self.name, part).text for part in re.split(r"(?<!\\);", self.value)]


@dataclass(slots=True)
class Component:
    """What stands between `BEGIN` and `END`.

    Attributes:
        kind: `VEVENT`, `VCARD` and the like.
        number: of the line on which it begins.
        lines: its own, without those of components within it.
        inner: components within it.
    """

    kind: str
    number: int
    lines: list[ContentLine] = field(default_factory=list)
    inner: list[Component] = field(default_factory=list)

    def first(self, name: str) -> ContentLine | None:
        """The first line of a name."""
        return next((line for line in self.lines if line.name == name), None)

    def text_of(self, name: str) -> str:
        """The first line's text; empty where there is none."""
        found = self.first(name)
        return found.text.strip() if found is not None else ""

    def all_of(self, name: str) -> list[ContentLine]:
        """Every line of a name."""
        return [line for line in self.lines if line.name == name]


def read_components(lines: Iterable[tuple[int, str]], kinds: frozenset[str]) -> Iterator[Component]:
    """Give each component of certain kinds as it ends.

    Args:
        lines: of the file, with their numbers.
        kinds: which ones; others are gone through for those within them.
    """
    open_ones: list[Component] = []
    for number, line in _unfold(lines):
        found = _read_line(line)
        if found is None:
            continue
        if found.name == "BEGIN" and len(open_ones) < 32:
            open_ones.append(Component(found.value.strip().upper(), number))
        elif found.name == "END":
            if (ended := _end_component(open_ones, found.value.strip().upper(), kinds)) is not None:
                yield ended
        elif open_ones and len(open_ones[-1].lines) < _MOST_LINES:
            open_ones[-1].lines.append(found)


def _end_component(open_ones: list[Component], kind: str, kinds: frozenset[str]) -> Component | None:
    """Close the component that ends, and what was never closed within it; what is looked for is given back."""
    if not any(one.kind == kind for one in open_ones):
        return None
    while (ended := open_ones.pop()).kind != kind:
        pass
    if ended.kind in kinds:
        return ended
    if open_ones and len(open_ones[-1].inner) < 1_000:
        open_ones[-1].inner.append(ended)
    return None


def _unfold(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Join lines that were folded: the next begins with a blank, or an old card's value goes on behind a `=`."""
    kept, first = "", 1
    for number, line in lines:
        is_quoted = "QUOTED-PRINTABLE" in kept[:200].upper() and _QUOTED_END.search(kept) is not None
        if kept and (line[:1] in (" ", "\t") or is_quoted) and len(kept) < _LONGEST:
            kept = kept.rstrip()[:-1] + line if is_quoted else kept + line[1:]
            continue
        if kept:
            yield first, kept
        kept, first = line, number
    if kept:
        yield first, kept


def _read_line(line: str) -> ContentLine | None:
    found = _LINE.match(line)
    if found is None:
        return None
    parameters: dict[str, str] = {}
    for name, value in _PARAMETER.findall(found[2]):
        key, meant = (name.upper(), value.strip('"')) if value else ("TYPE", name)
        parameters[key] = f"{parameters[key]},{meant}" if key in parameters else meant
    value = found[3]
    if "QUOTED-PRINTABLE" in parameters.get("ENCODING", parameters.get("TYPE", "")).upper():
        raw = quopri.decodestring(value.encode("utf-8", "surrogatepass"))
        value = decode_ladder(raw)[0].replace("\r\n", "\n")
    return ContentLine(found[1].upper(), value, parameters)
