"""How much of a talk becomes statements, and how many of those are right.

python tests/bench/bench_talk.py DATA_FOLDER [--heldout] [--labels] [--show]

DATA_FOLDER holds `talk-dev.jsonl`; `--heldout` takes the talk of packaging/training whose authors no fit saw. A made
statement is matched with a labelled one of its turn by the content words that they share (F1 of at least a half).
`--labels` reads by the labels instead of the model, so that only what is written here is measured. Must not do: write a
line of the data anywhere but on the screen, and only with `--show`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "packaging" / "training")]

from core.talk.statements import Reader, distill_conversation  # noqa: E402 - found by the path above
from core.talk.style.earlier_statements import content_words  # noqa: E402
from core.talk.turns import EpisodeText, read_turns  # noqa: E402
from core.types.talk import Assertion, Reading, SentenceInContext, Statement, StatementType  # noqa: E402

LEAST_F1 = 0.5


@dataclass(frozen=True)
class LabelledTalk:
    """A conversation with what is to be made of it.

    Attributes:
        name: of the conversation.
        episodes: its messages.
        wanted: statements by episode.
        nothing: episodes that hold none.
        readings: of its sentences by text, where they are labelled.
    """

    name: str
    episodes: list[EpisodeText]
    wanted: dict[str, list[str]]
    nothing: set[str]
    readings: dict[str, Reading] = field(default_factory=dict)


def read_talk_dev(path: Path) -> Iterator[LabelledTalk]:
    """The conversations of `talk-dev.jsonl`."""
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        said_ms = _noon(row["date"])
        episodes = [
            EpisodeText(f"{row['id']}#{turn['n']}", turn["text"], turn["speaker"], said_ms) for turn in row["turns"]
        ]
        wanted: dict[str, list[str]] = defaultdict(list)
        kinds: dict[str, StatementType] = {}
        for one in row["statements"]:
            wanted[f"{row['id']}#{one['turn']}"].append(one["text"])
            kinds[f"{row['id']}#{one['turn']}"] = StatementType(one["type"])
        nothing = {f"{row['id']}#{n}" for n in row["not_statements"]}
        readings = {episode.text: _reading(kinds[episode.id]) for episode in episodes if episode.id in wanted}
        yield LabelledTalk(row["id"], episodes, dict(wanted), nothing, readings)


def read_held_out() -> Iterator[LabelledTalk]:
    """The labelled talk of authors that no fit saw, a piece at a time."""
    from talk_data import FOLDER

    for path in sorted(FOLDER.glob("*.jsonl")):
        yield from _read_pieces(path)


def _read_pieces(path: Path) -> Iterator[LabelledTalk]:
    from talk_data import is_held_out

    piece: LabelledTalk | None = None
    date = ""
    for number, line in enumerate(path.read_text("utf-8").splitlines()):
        row = json.loads(line)
        if isinstance(row, dict):
            if piece is not None:
                yield piece
            date = row["date"]
            piece = LabelledTalk(f"{path.stem}:{number}", [], {}, set()) if is_held_out(row["author"]) else None
            continue
        if piece is None:
            continue
        _add_sentence(piece, row, number, date)
    if piece is not None:
        yield piece


def _add_sentence(piece: LabelledTalk, row: Sequence[object], number: int, date: str) -> None:
    speaker, text, kind, asserted, lasting, worth, marks = row
    assert isinstance(marks, dict)
    key = f"{piece.name}#{number}"
    piece.episodes.append(EpisodeText(key, str(text), str(speaker), _noon(date)))
    is_told = kind != "none" and asserted in ("yes", "negated")
    piece.readings[str(text)] = Reading(
        StatementType(str(kind)),
        float(is_told),
        Assertion(str(asserted)),
        float(is_told),
        float(str(lasting)),
        float(str(worth)),
    )
    if "r" in marks:
        piece.wanted[key] = [marks["r"]]
    elif not is_told:
        piece.nothing.add(key)


def _noon(day: str) -> int:
    return int(datetime.fromisoformat(day).replace(hour=12, tzinfo=UTC).timestamp() * 1000)


def _reading(kind: StatementType) -> Reading:
    return Reading(kind, 1.0, Assertion.YES, 1.0, 1.0, 2.0)


def read_by_labels(talk: LabelledTalk) -> Reader:
    """Reads a sentence as its label, or as the label of the turn it stands in."""
    nothing = Reading(StatementType.NONE, 0.0, Assertion.NONE, 0.0, 0.0, 0.0)

    def read(said: Sequence[SentenceInContext]) -> list[Reading]:
        return [
            talk.readings.get(one.text)
            or next((reading for text, reading in talk.readings.items() if one.text in text), nothing)
            for one in said
        ]

    return read


def read_by_model() -> Reader:
    """Reads by the model that the product ships."""
    from core.talk.reader_model import ReaderModel

    return ReaderModel().read


@dataclass
class Tally:
    """What was counted."""

    wanted: int = 0
    found: int = 0
    made: int = 0
    right: int = 0
    nothing: int = 0
    made_of_nothing: int = 0
    skipped: Counter[str] = field(default_factory=Counter)


def f1_of_words(one: str, other: str) -> float:
    """How far two sentences agree in their content words."""
    first, second = content_words(one), content_words(other)
    shared = len(first & second)
    return 2 * shared / (len(first) + len(second)) if shared else 0.0


def count_talk(talk: LabelledTalk, read: Reader, tally: Tally, *, show: bool) -> None:
    """Distil a conversation and count what became of it."""
    done = distill_conversation(read_turns(talk.episodes), read)
    made: dict[str, list[Statement]] = defaultdict(list)
    for one in done.statements:
        made[one.episode_id].append(one)
    tally.skipped.update(done.skipped)
    tally.nothing += len(talk.nothing)
    tally.made_of_nothing += sum(key in made for key in talk.nothing)
    for episode in talk.episodes:
        wanted, told = talk.wanted.get(episode.id, []), made.get(episode.id, [])
        found = [each for each in wanted if any(_agrees(one.text, each, wanted) for one in told)]
        judged = told if wanted or episode.id in talk.nothing else []
        right = [one for one in judged if any(_agrees(one.text, each, wanted) for each in wanted)]
        tally.wanted += len(wanted)
        tally.found += len(found)
        tally.made += len(judged)
        tally.right += len(right)
        if show and (wanted or told) and (len(found) < len(wanted) or len(right) < len(told)):
            _show(episode, wanted, told, right)


def _agrees(told: str, wanted: str, all_wanted: Sequence[str]) -> bool:
    """Whether a made statement means a labelled one, or all that the label parts in two."""
    return f1_of_words(told, wanted) >= LEAST_F1 or f1_of_words(told, " ".join(all_wanted)) >= LEAST_F1


def _show(episode: EpisodeText, wanted: Sequence[str], told: Sequence[Statement], right: Sequence[Statement]) -> None:
    print(f"{episode.author}: {episode.text}")
    for each in wanted:
        print(f"    want {each}")
    for one in told:
        print(f"    {'ok  ' if one in right else 'MADE'} {one.text}  ({one.about}, {one.confidence})")


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--heldout", action="store_true")
    parser.add_argument("--labels", action="store_true")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    talks = read_held_out() if options.heldout else read_talk_dev(options.folder / "talk-dev.jsonl")
    tally = Tally()
    read = None if options.labels else read_by_model()
    for talk in talks:
        count_talk(talk, read or read_by_labels(talk), tally, show=options.show)
    print(f"found {tally.found} of {tally.wanted}: {_share(tally.found, tally.wanted)} (bar 0.60)")
    print(f"made {tally.made}, right by words {tally.right}: {_share(tally.right, tally.made)} (bar 0.90, by reading)")
    print(
        f"turns of nothing made into one: {tally.made_of_nothing} of {tally.nothing}: "
        f"{_share(tally.made_of_nothing, tally.nothing)} (bar 0.05)"
    )
    print("skipped: " + ", ".join(f"{reason} {n}" for reason, n in tally.skipped.most_common()))


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.2f}" if whole else "-"


if __name__ == "__main__":
    main()
