"""How well texts are read, and how fast: python tests/bench/bench_enrich.py [FILE] [--errors] [--texts N].

FILE holds lines of `{text, technologies, paths, urls, names}`, `names` as pairs of name and type; the project's own
`heldout/enrich.jsonl` if none is given. All lines are memories of one space, so that what is named twice there counts.
Of names, the entities and which memory mentions which are measured; a type is looked at only where the name was found.
Not a test: it asserts nothing.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "helpers")]

from engine_rig import Rig, rig_at  # noqa: E402
from ground_rig import flow, ground_of  # noqa: E402

from core.belief.extract.extraction import extract_claims  # noqa: E402
from core.lifecycle.enrich import EnrichJob  # noqa: E402
from core.text.metadata import affect_of, extract_metadata  # noqa: E402

Line = dict[str, Any]
OWN = ROOT / "tests" / "bench" / "heldout" / "enrich.jsonl"
_MENTIONED = (
    "SELECT m.ref, e.name, e.type FROM mentions n JOIN memories m ON m.id = n.memory_id "
    "JOIN entities e ON e.id = n.entity_id WHERE n.start_at >= 0 AND e.type NOT IN ('technology', 'file')"
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the bench."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, nargs="?", default=OWN)
    parser.add_argument("--errors", action="store_true", help="show what went wrong")
    parser.add_argument("--texts", type=int, default=5_000, help="memories of the run that is timed")
    chosen = parser.parse_args(arguments)
    lines = [json.loads(line) for line in chosen.file.read_text("utf-8").splitlines()]
    for field in ("technologies", "paths", "urls"):
        wanted = {(line["id"], value) for line in lines for value in line[field]}
        found = {(line["id"], value) for line in lines for value in _read(line["text"], field)}
        _tell(field, wanted, found, chosen.errors)
    with tempfile.TemporaryDirectory() as folder, rig_at(Path(folder)) as rig:
        _names(rig, lines, errors=chosen.errors)
    _times([line["text"] for line in lines], chosen.texts)


def _read(text: str, field: str) -> Iterable[str]:
    metadata = extract_metadata(text)
    if field == "urls":
        return metadata.urls
    return [one.name for one in (metadata.technologies if field == "technologies" else metadata.paths)]


def _names(rig: Rig, lines: Sequence[Line], *, errors: bool) -> None:
    rig.bring([{"text": line["text"], "author": "user", "ref": line["id"]} for line in lines])
    flow(rig, EnrichJob(), ground_of(rig))
    rows = rig.rows(_MENTIONED)
    wanted = {(line["id"], name) for line in lines for name, _ in line["names"]}
    _tell("mentions", wanted, {(ref, name) for ref, name, _ in rows}, errors)
    _tell("entities", {name for _, name in wanted}, {name for _, name, _ in rows}, errors)
    types = {(line["id"], name): kind for line in lines for name, kind in line["names"] if kind != "other"}
    both = [(types[ref, name], kind) for ref, name, kind in rows if (ref, name) in types]
    print(f"{'types':14} {sum(a == b for a, b in both)}/{len(both)}")


def _tell(what: str, wanted: set[Any], found: set[Any], errors: bool) -> None:
    right = len(wanted & found)
    print(f"{what:14} precision {right}/{len(found)} {right / max(1, len(found)):.1%}   ", end="")
    print(f"recall {right}/{len(wanted)} {right / max(1, len(wanted)):.1%}")
    if errors:
        for sign, some in (("+", found - wanted), ("-", wanted - found)):
            for one in sorted(some, key=str):
                print(f"    {sign} {one}")


def _times(texts: Sequence[str], count: int) -> None:
    long = " ".join(texts)[:1_000]
    for read in (extract_metadata, affect_of):
        began = time.perf_counter()
        for _ in range(200):
            read(long)
        print(f"{read.__name__:14} {(time.perf_counter() - began) * 5:.2f} ms for 1,000 characters")
    rows = [{"text": f"{texts[n % len(texts)]} It was day {n}.", "author": "user", "ref": str(n)} for n in range(count)]
    with tempfile.TemporaryDirectory() as folder, rig_at(Path(folder)) as rig:
        rig.bring(rows)
        began = time.perf_counter()
        ran = flow(rig, EnrichJob(), ground_of(rig))
        spent = time.perf_counter() - began
        print(f"{'run':14} {ran.counts['read'] / spent:,.0f} memories/s, {ran.counts['mentions']:,} mentions")
    began = time.perf_counter()
    for row in rows[:1_000]:
        extract_claims(row["text"], now_ms=0, said_ms=0)
    print(f"{'claims':14} {1_000 / (time.perf_counter() - began):,.0f} texts/s read, none written")


if __name__ == "__main__":
    main()
