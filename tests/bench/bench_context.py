"""How much of what recall finds a model is given, and whether the answer is in it: bench_context.py [DATASET ...].

Without a DATASET: the sample with questions that one stored fact answers (`tests/fixtures/context`). A DATASET is the
file of LoCoMo's conversations, or `tests/bench/heldout/conversations`. Each question is asked for a context at the
default budget, once with everything that was found and once as it is cut behind the first hit
(`core.score.answer_focus`). Not a test: it prints a table and asserts nothing.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "helpers"), str(ROOT / "tests" / "bench")]

from bench_locomo import Filled  # noqa: E402
from conversations import read_ours  # noqa: E402
from locomo import Conversation, read  # noqa: E402

from app.sample.sample import fill_sample, sample_engine  # noqa: E402
from core.engine.facade import Engine  # noqa: E402
from core.score.context_budget import MOST_FETCHED  # noqa: E402
from core.score.profile import Focus  # noqa: E402
from core.types.recall import ContextQuery  # noqa: E402
from core.types.values import OWNER_ACTOR  # noqa: E402

QUESTIONS = ROOT / "tests" / "fixtures" / "context" / "sample_questions.json"
WAYS = {"uncut": Focus(rivals=0, kept=MOST_FETCHED), "cut": Focus()}
"""With the first no hit is ever clear, and all that was found stays."""
_LIMIT = 20


@dataclass(frozen=True)
class Given:
    """A context: memories and tokens in it, and the share of the evidence that is there; None without evidence."""

    category: str
    memories: int
    tokens: int
    evidence: float | None


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the bench."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="*", type=Path)
    parser.add_argument("--conversations", type=int, default=None)
    chosen = parser.parse_args(arguments)
    if not chosen.datasets:
        with sample_engine() as (engine, clock, _):
            fill_sample(engine, clock)
            told("sample", engine, lambda: _sample(engine))
    for path in chosen.datasets:
        conversations = (read_ours(path) if path.is_dir() else read(path))[: chosen.conversations]
        with tempfile.TemporaryDirectory() as folder:
            filled = Filled(Path(folder), _LIMIT)
            filled.fill(conversations, distills=False)
            with filled.copy("asked") as palace:
                # Both ways are asked of the same vault.
                palace._engine._slot.require_vault().storage.threads.stop_tickers()
                told(path.stem, palace._engine, partial(_asked, palace._engine, conversations))


def told(name: str, engine: Engine, ask: Callable[[], list[Given]]) -> None:
    """Ask both ways and print a line each."""
    recall = engine._slot.require_vault().search.recall
    for way, focus in WAYS.items():
        recall.profile = replace(recall.profile, focus=focus)
        given = ask()
        for category in ("all", *sorted({one.category for one in given if one.category})):
            _row(f"{name} {way} {category}", [one for one in given if category in ("all", one.category)])


def _row(name: str, given: Sequence[Given]) -> None:
    known = [one.evidence for one in given if one.evidence is not None]
    whole = 100 * float(np.mean([one == 1.0 for one in known])) if known else 0.0
    print(
        f"{name:36} questions {len(given):4}  memories {np.mean([one.memories for one in given]):6.1f}  "
        f"tokens {np.mean([one.tokens for one in given]):7.0f}  evidence {100 * float(np.mean(known or [0])):5.1f} %  "
        f"all of it {whole:5.1f} %",
        flush=True,
    )


def _sample(engine: Engine) -> list[Given]:
    questions = json.loads(QUESTIONS.read_text("utf-8"))["questions"]
    given = []
    for question in questions:
        context = engine.memories.build_context(ContextQuery(question["query"]), OWNER_ACTOR).result().context
        found = any(part in context.text.replace("&apos;", "'") for part in question["expect"])
        given.append(Given("", len(context.included), context.tokens, float(found)))
    return given


def _asked(engine: Engine, conversations: Sequence[Conversation]) -> list[Given]:
    refs = dict(engine._slot.require_vault().storage.vault.read(lambda rows: rows.all("SELECT id, ref FROM memories")))
    given = []
    for conversation in conversations:
        for question in conversation.questions:
            asked = ContextQuery(question.text, spaces=(conversation.name,))
            context = engine.memories.build_context(asked, OWNER_ACTOR).result().context
            inside = {refs[one.id] for one in context.included if one.tier == "full"}
            wanted = question.evidence
            share = sum(ref in inside for ref in wanted) / len(wanted) if wanted else None
            given.append(Given(question.category, len(context.included), context.tokens, share))
    return given


if __name__ == "__main__":
    main()
