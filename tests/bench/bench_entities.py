"""Who and what talk is about: python tests/bench/bench_entities.py [FILE] [--errors] [--locomo FILE].

FILE holds lines of `{id, talk, author, text, names}`, `names` as pairs of name and type, the name as its entity is
called (a short form counts as the whole name); the project's own `heldout/entities.jsonl` if none is given. Each talk
is one conversation in a vault of its own. Its figures stand in two halves: the talks with which the rules were
improved, and those whose lines nobody looked at meanwhile; `--errors` shows those of the first half alone. `--locomo`
lists the first forty names of each conversation, to be read by a person. Not a test: it asserts nothing.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "helpers")]

import locomo  # noqa: E402
from engine_rig import Rig, rig_at  # noqa: E402
from ground_rig import flow, ground_of  # noqa: E402

from core.lifecycle.enrich import EnrichJob  # noqa: E402
from core.types.entities import EntityQuery  # noqa: E402
from core.vault.memory_sql import ENTITY_TYPE  # noqa: E402

Line = dict[str, Any]
Place = tuple[str, str, str]
OWN = ROOT / "tests" / "bench" / "heldout" / "entities.jsonl"
OPEN_TALKS = ("sisters", "flat", "grandfather", "work", "couple", "gamers")
"""Whose errors were looked at while the rules were made."""
FIRST = 40
_MENTIONED = (
    f"SELECT m.ref, e.name, {ENTITY_TYPE} FROM mentions n JOIN memories m ON m.id = n.memory_id "  # noqa: S608
    "JOIN entities e ON e.id = n.entity_id WHERE n.start_at >= 0"
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the bench."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, nargs="?", default=OWN)
    parser.add_argument("--errors", action="store_true", help="show what went wrong in the open half")
    parser.add_argument("--locomo", type=Path, help="list the names of its conversations instead")
    chosen = parser.parse_args(arguments)
    if chosen.locomo:
        _list_names(chosen.locomo)
        return
    lines = [json.loads(line) for line in chosen.file.read_text("utf-8").splitlines()]
    talks = dict.fromkeys(line["talk"] for line in lines)
    for half, is_open in (("open", True), ("held out", False)):
        own = [talk for talk in talks if (talk in OPEN_TALKS) is is_open]
        wanted: set[Place] = set()
        found: set[Place] = set()
        for talk in own:
            some = [line for line in lines if line["talk"] == talk]
            wanted |= {(line["id"], name, kind) for line in some for name, kind in line["names"]}
            found |= _read_talk(some)
        _tell(half, wanted, found, errors=chosen.errors and is_open)


def _read_talk(lines: Sequence[Line]) -> set[Place]:
    with tempfile.TemporaryDirectory() as folder, rig_at(Path(folder)) as rig:
        _bring(rig, [(line["id"], line["talk"], line["author"], line["text"]) for line in lines])
        return {(str(ref), str(name), str(kind)) for ref, name, kind in rig.rows(_MENTIONED)}


def _bring(rig: Rig, turns: Sequence[tuple[str, str, str, str]]) -> None:
    rig.bring([{"ref": ref, "session": talk, "author": who, "text": text} for ref, talk, who, text in turns])
    flow(rig, EnrichJob(), ground_of(rig))


def _tell(half: str, wanted: set[Place], found: set[Place], *, errors: bool) -> None:
    named, seen = {place[:2] for place in wanted}, {place[:2] for place in found}
    both = len(named & seen)
    print(f"{half}: {len(wanted)} mentions")
    print(f"  names  precision {both}/{len(seen)} {both / max(1, len(seen)):.1%}", end="")
    print(f"   recall {both}/{len(named)} {both / max(1, len(named)):.1%}")
    print(f"  types  of the names found {len(wanted & found)}/{both} {len(wanted & found) / max(1, both):.1%}", end="")
    kinds = Counter(kind for *place, kind in wanted if tuple(place) in seen)
    right = Counter(kind for *_, kind in wanted & found)
    print("".join(f", {kind} {right[kind]}/{count} {right[kind] / count:.0%}" for kind, count in sorted(kinds.items())))
    if errors:
        for sign, some in (("+", found - wanted), ("-", wanted - found)):
            for one in sorted(some):
                print(f"    {sign} {one}")


def _list_names(file: Path) -> None:
    for talk in locomo.read(file):
        with tempfile.TemporaryDirectory() as folder, rig_at(Path(folder)) as rig:
            _bring(rig, [(turn.ref, turn.session, turn.author, turn.text) for turn in talk.turns])
            listed = rig.engine.entities.list_entities(EntityQuery()).result(30)
        print(f"{talk.name}: {len(talk.turns)} messages, {listed.total} names")
        for line in listed.lines[:FIRST]:
            others = f" (also {', '.join(line.others)})" if line.others else ""
            print(f"  {line.name}{others}, {line.type}, {line.mentions}")


if __name__ == "__main__":
    main()
