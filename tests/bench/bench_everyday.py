"""Plain statements of a person, told one after another: what ends, what is asked, and what is answered in the end.

    nice .venv/bin/python tests/bench/bench_everyday.py FOLDER [--errors] [--limit 10]

FOLDER holds files `everyday*.json`, each of one person: `statements` (`id`, `text`, `relation`: null, or `replaces`,
`same` or `adds` with the id it speaks of) and `questions` (`q`, `want`, `not`). Every statement is the owner's word at
the window, an hour after the one before, through the public verb `remember`, on the built-in embedder and readers.
A statement that replaces another is *applied* where that other does not stand any more, *asked* where the review has an
item about the two, else *missed*; what else ended with it is a wrong end. Of those that replace nothing: an item about
it is a needless question, an end of something that stood a wrong end. An answer is first where its first text holds
`want`; outdated text before it is one with `not` (or the answer missing while such a text is given). Asserts nothing.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "helpers")]

from engine_rig import START_MS, HandClock, Rig, rig_at  # noqa: E402

from core.engine.facade import built_in_embedder, built_in_readers  # noqa: E402
from core.types.values import Source  # noqa: E402

_HOUR = 3_600_000
_DAY = 24 * _HOUR
_STANDS = ("active", "disputed")


@dataclass
class Telling:
    """What became of one person's statements.

    Attributes:
        ids: statement id to memory id; several statements may have one memory.
        wrong: (statement, what ended with it) that nobody meant.
    """

    ids: dict[str, str] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)


def standing(rig: Rig) -> set[str]:
    """Ids of what stands."""
    return {str(row[0]) for row in rig.rows("SELECT id FROM memories WHERE status IN ('active', 'disputed')")}


def open_items(rig: Rig) -> dict[str, tuple[str, str, str]]:
    """Open items of the review: id to existing, incoming and reason."""
    found = rig.rows(
        "SELECT id, existing_id, incoming_id, reason || '/' || coalesce(suggestion, '') FROM conflicts "
        "WHERE state = 'open'"
    )
    return {str(row[0]): (str(row[1]), str(row[2]), str(row[3])) for row in found}


def tell(rig: Rig, clock: HandClock, person: Mapping[str, Any], one_by_one: Telling) -> None:
    """Tell every statement in order and count what it did."""
    for line in person["statements"]:
        clock.at_ms += _HOUR
        before, asked = standing(rig), set(open_items(rig))
        reply = rig.store(line["text"], source=Source.USER_EXPLICIT)
        after = standing(rig)
        items = {name: row for name, row in open_items(rig).items() if name not in asked}
        one_by_one.ids[line["id"]] = reply.memory_id
        one_by_one.texts[line["id"]] = line["text"]
        judge(one_by_one, line, before - after, items)


def judge(told: Telling, line: Mapping[str, Any], gone: set[str], items: Mapping[str, tuple[str, str, str]]) -> None:
    """Count what one statement did."""
    kind, _, of = (line["relation"] or "").partition(":")
    target = told.ids.get(of)
    names = {memory: name for name, memory in told.ids.items()}
    ended = sorted(names.get(memory, "?") for memory in gone)
    about = sorted(f"{names.get(row[0], '?')} {row[2]}" for row in items.values())
    if kind == "replaces":
        told.counts["changes"] += 1
        right = target in gone
        outcome = "applied" if right else "asked" if any(target == row[0] for row in items.values()) else "missed"
        told.counts[outcome] += 1
        others = [name for memory, name in names.items() if memory in gone and memory != target]
        # A version that says the same as the one meant may go with it.
        told.counts["wrong"] += bool(others)
        if outcome != "applied" or others:
            told.notes.append(
                f"{outcome}: {line['text']!r} replaces {told.texts.get(of, '')!r}; ended {ended}; asked {about}"
            )
        return
    told.counts["rest"] += 1
    # What says the same, or adds to it, may take its place: nothing is lost.
    others = [name for memory, name in names.items() if memory in gone and not (kind and memory == target)]
    told.counts["wrong"] += bool(others)
    told.counts["needless"] += bool(items)
    if others or items:
        shown = [
            told.texts[name]
            for name in [*others, *(names.get(row[0], "") for row in items.values())]
            if name in told.texts
        ]
        told.notes.append(
            f"{'WRONG END' if others else 'needless'}: {line['text']!r}; ended {others}; asked {about}; {shown}"
        )


def ask(rig: Rig, person: Mapping[str, Any], told: Telling, limit: int) -> None:
    """Ask every question and count what is answered first, and what is outdated before it."""
    for line in person["questions"]:
        told.counts["questions"] += 1
        texts = rig.found(line["q"], limit=limit)
        place = next((n for n, text in enumerate(texts) if line["want"].casefold() in text.casefold()), len(texts))
        stale = [text for text in texts[:place] if line["not"] and line["not"].casefold() in text.casefold()]
        told.counts["first"] += place == 0 and bool(texts)
        told.counts["outdated"] += bool(stale)
        if place or not texts:
            told.notes.append(f"answer {place + 1}: {line['q']!r} wants {line['want']!r}, has {texts[:3]}")


def report(name: str, counts: Mapping[str, int]) -> None:
    """One line of figures."""
    print(
        f"{name}: changes applied {counts['applied']}, asked {counts['asked']}, missed {counts['missed']} "
        f"of {counts['changes']}; of {counts['rest']} that end nothing {counts['needless']} needless questions; "
        f"wrong ends {counts['wrong']}; first {counts['first']} of {counts['questions']}, outdated {counts['outdated']}"
    )


def main() -> None:
    """Tell, ask, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--errors", action="store_true")
    parser.add_argument("--limit", type=int, default=10)
    arguments = parser.parse_args()
    embedder, readers = built_in_embedder(), built_in_readers()
    whole: Counter[str] = Counter()
    for path in sorted(arguments.folder.glob("everyday*.json")):
        person = json.loads(path.read_text("utf-8"))
        told, clock = Telling(), HandClock(START_MS)
        with (
            tempfile.TemporaryDirectory() as folder,
            rig_at(Path(folder), clock=clock, embedder=embedder, readers=readers) as rig,
        ):
            tell(rig, clock, person, told)
            clock.at_ms += _DAY
            ask(rig, person, told, arguments.limit)
        report(path.stem, told.counts)
        if arguments.errors:
            print("\n".join(f"  {note}" for note in told.notes))
        whole += told.counts
    report("all", whole)


if __name__ == "__main__":
    main()
