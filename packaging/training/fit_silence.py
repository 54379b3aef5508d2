"""Fit the model that tells when recall keeps silent: python packaging/training/fit_silence.py.

It asks questions that something answers, and questions that nothing answers, in vaults of one to some thousand
memories, and writes `resources/recall/silence.json`. The texts: conversations of `tests/bench/heldout/conversations`,
the sample diary and notes, sentences of the relation pairs as what else a vault holds, and the questions of
`packaging/training/silence`. Each fold of the printed table is judged by a model that did not see its questions.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "helpers"), str(ROOT / "tests" / "bench")]

from conversations import read_ours  # noqa: E402
from recall_rig import Note, Rig  # noqa: E402

from core.embed.embedder import MiniLmEmbedder  # noqa: E402

OUT = ROOT / "resources" / "recall" / "silence.json"
TRAINING = ROOT / "packaging" / "training"
SMALL, FILLED = (1, 5, 20, 80), (0, 500, 8_000)
SIGNS = (
    "meaning", "own_meaning", "words", "own_words", "unknown", "size", "length", "lead", "meaning_lead",
    "meaning_around", "meaning_by_size", "words_by_size", "own_words_by_size",
)  # fmt: skip
FOLDS, STRICT = 5, 1e-3
Rows = NDArray[np.float64]


@dataclass(frozen=True)
class Asking:
    """One question asked in one vault: its signs, and whether something answers it."""

    vault: str
    query: str
    answered: bool
    signs: tuple[float, ...]


def lines(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def vaults() -> Iterator[tuple[str, list[Note], list[str]]]:
    """Name, memories, and the questions that something in them answers."""
    for one in read_ours(ROOT / "tests" / "bench" / "heldout" / "conversations"):
        yield one.name, one.notes(), [question.text for question in one.questions if question.evidence]
    diary = [Note(row["text"], conversation="d", position=at) for at, row in enumerate(lines(_demo("diary.jsonl")))]
    pages = [page.read_text("utf-8") for page in sorted(_demo("notes").rglob("*.md"))]
    diary += [Note(part.strip()) for page in pages for part in page.split("\n\n") if part.strip()]
    sentences = [row[side] for path in sorted((TRAINING / "relations").glob("*.jsonl")) for row in lines(path)
                 for side in ("e", "n")]  # fmt: skip
    others = [Note(text) for text in dict.fromkeys(sentences)]
    random.Random(1).shuffle(others)  # noqa: S311 - the same mixture each time
    known = [row["query"] for row in lines(TRAINING / "silence" / "answerable.jsonl")]
    for count in FILLED:
        yield f"diary and {count}", diary + others[:count], known
    for count in SMALL:
        yield f"{count}", others[-count:], []


def _demo(name: str) -> Path:
    return ROOT / "resources" / "demo" / name


def askings() -> list[Asking]:
    """Ask everything everywhere."""
    embedder = MiniLmEmbedder()
    nowhere = [row["query"] for row in lines(TRAINING / "silence" / "negatives.jsonl")]
    vectors = {query: embedder.embed_one(query) for query in nowhere}
    found = []
    for name, notes, known in vaults():
        rig = Rig(embedder)
        rig.add(notes)
        rig.warm()
        for query, is_known in [(one, False) for one in nowhere] + [(one, True) for one in known]:
            if query not in vectors:
                vectors[query] = embedder.embed_one(query)
            signs = rig.ask(query, vector=vectors[query]).trace.signs
            found.append(Asking(name, query, is_known, tuple(signs[sign] for sign in SIGNS)))
        rig.close()
        print(f"{name}: {len(notes)} memories, {len(known)} answerable questions", flush=True)
    return found


def fit(signs: Rows, answered: Rows, weight: Rows) -> tuple[Rows, Rows, Rows]:
    """Logistic regression by Newton's method with a small ridge: coefficients (intercept first), means, spreads."""
    mean, spread = signs.mean(0), signs.std(0) + 1e-9
    table = np.column_stack([np.ones(len(signs)), (signs - mean) / spread])
    beta, ridge = np.zeros(table.shape[1]), STRICT * weight.sum() * np.r_[0.0, np.ones(signs.shape[1])]
    for _ in range(60):
        p = 1 / (1 + np.exp(-table @ beta))
        curve = (table * (weight * p * (1 - p))[:, None]).T @ table + np.diag(ridge + 1e-9)
        beta = beta + np.linalg.solve(curve, table.T @ (weight * (answered - p)) - ridge * beta)
    return beta, mean, spread


def weights_of(found: Sequence[Asking]) -> Rows:
    """Both kinds count alike, and a vault by the root of what was asked in it."""
    weight = np.zeros(len(found))
    for kind in (False, True):
        mine = np.array([one.answered is kind for one in found])
        for vault in {one.vault for one in found}:
            here = mine & np.array([one.vault == vault for one in found])
            if here.any():
                weight[here] = 1 / np.sqrt(here.sum())
        weight[mine] /= weight[mine].sum()
    return weight * len(found)


def main() -> None:
    found = askings()
    signs = np.array([one.signs for one in found])
    answered = np.array([float(one.answered) for one in found])
    order = {query: at % FOLDS for at, query in enumerate(sorted({one.query for one in found}))}
    fold, odds = np.array([order[one.query] for one in found]), np.zeros(len(found))
    for number in range(FOLDS):
        rest = fold != number
        beta, mean, spread = fit(signs[rest], answered[rest], weights_of([found[at] for at in np.flatnonzero(rest)]))
        odds[~rest] = np.column_stack([np.ones((~rest).sum()), (signs[~rest] - mean) / spread]) @ beta
    report(found, answered, 1 / (1 + np.exp(-odds)))
    beta, mean, spread = fit(signs, answered, weights_of(found))
    told = {
        name: {"mean": round(float(m), 5), "spread": round(float(s), 5), "weight": round(float(b), 5)}
        for name, m, s, b in zip(SIGNS, mean, spread, beta[1:], strict=True)
    }
    made_by = Path(__file__).resolve().relative_to(ROOT).as_posix()
    about = f"How likely a question has an answer; made by {made_by}, read by core.score.ranking."
    data = {"about": about, "intercept": round(float(beta[0]), 5), "signs": told}
    OUT.write_text(json.dumps(data, indent=1) + "\n", "utf-8")
    print(f"{OUT.relative_to(ROOT)} written from {len(found)} askings")


def report(found: Sequence[Asking], answered: Rows, chances: Rows) -> None:
    for vault in dict.fromkeys(one.vault for one in found):
        here = np.array([one.vault == vault for one in found])
        for least in (0.5, 0.55, 0.6):
            silent = np.mean(chances[here & (answered == 0)] < least)
            told = chances[here & (answered == 1)] >= least
            share = f"{told.mean():6.1%}" if told.size else "   –"
            print(f"{vault:18} from {least:.2f}: silent {silent:6.1%}   answered {share}")


if __name__ == "__main__":
    main()
