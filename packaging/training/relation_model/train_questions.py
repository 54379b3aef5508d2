"""Teach the relation model which memory answers a question; what it says of pairs stays as it was.

Run by hand when questions were added, in an environment with the `model` extra of pyproject.toml:

    python packaging/training/relation_model/train_questions.py [--minutes 10] [--begin FILE] [--target FOLDER]

Each step learns from some questions, each beside the statement that answers it and others of the same person that look
as if they did; and from some pairs, of which it learns to say what the model that it goes on from says. Their labels
are not learned: a model that did found more changes, and ended more that was merely near. One person in twelve and one
note in fourteen of `changes/` teach nothing: they say how often it is right, whether it says of pairs what it said
before, and from which log odds on a memory surely answers. Must not do: fetch anything, or read a labelled set that
measures the model.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import random
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT), str(ROOT / "packaging"), str(ROOT / "packaging" / "training")]

import question_data as questions  # noqa: E402
import relation_data as data  # noqa: E402
import relation_net as network  # noqa: E402
from build_model import sha256_of  # noqa: E402
from core.belief.relate.features import Features, encode_pair, prepare_text  # noqa: E402
from core.embed.embedder import lazy_embedder  # noqa: E402
from encoder_net import Shared, find_shared, layer_groups, take_over  # noqa: E402
from relation_card import Scores, write_card  # noqa: E402
from train_relations import EVERYDAY, TARGET, onnx_outputs, read, write_onnx  # noqa: E402

NOTE_OF = 14
PAIRS, GROUPS = 20, 4
"""Pairs and questions of a step."""
OLDER = 3_000
"""Pairs of files that are neither EVERYDAY nor `changes/`."""
STRANGERS, NEAR = (20, 200), (0.25, 0.55)
"""By nearness, those notes of others that a newcomer meets as in a vault, near by chance; their cosines."""
SURE = 0.3
"""What the log odds of single statements count beside which of them is the best."""
AS_BEFORE = 4.0
"""What it counts to say of pairs what was said before, beside the questions."""
RATE, HEAD_RATE, ANSWER_RATE = 1e-4, 3e-4, 5e-4
WARM_STEPS = 60
OF_BEFORE = 0.4
"""Of the weights that ship, so much is of the model whose relations it keeps: then more of them are as they were."""
TRUE_ANSWERS = 0.8
"""From the log odds on from which so many of those that are best answer, whether anything does or not, one does."""

Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class Told:
    """A person with the nearness of each statement to each question, shape (questions, statements)."""

    person: questions.Person
    nearness: Vectors


@dataclass(frozen=True)
class Step:
    """What one step learns from: a group a question, of which the first row answers; and pairs."""

    groups: list[list[Features]]
    pairs: list[Features]


class Course:
    """Steps, drawn anew as long as they are asked for."""

    def __init__(self, told: Sequence[Told], pairs: Sequence[data.Pair], shared: Shared, seed: int) -> None:
        """Take what teaches; who and what is held back must not be among it."""
        self._told, self._pairs, self._shared = told, pairs, shared
        self._rng = random.Random(seed)  # noqa: S311 - repeatable, not secret

    def run(self) -> Iterator[Step]:
        """Steps without end."""
        asked: list[tuple[Told, int]] = []
        pairs: list[data.Pair] = []
        while True:
            if len(asked) < GROUPS:
                asked = [(one, nr) for one in self._told for nr in range(len(one.person.questions))]
                self._rng.shuffle(asked)
            if len(pairs) < PAIRS:
                pairs = list(self._pairs)
                self._rng.shuffle(pairs)
            rows = [read(*data.dressed(pair, self._rng), self._shared) for pair in pairs[:PAIRS]]
            yield Step([self._read_group(one, nr) for one, nr in asked[:GROUPS]], rows)
            asked, pairs = asked[GROUPS:], pairs[PAIRS:]

    def _read_group(self, told: Told, nr: int) -> list[Features]:
        question, texts = questions.draw_group(told.person, told.person.questions[nr], told.nearness[nr], self._rng)
        return [read(text, question, self._shared) for text in texts]


def tell(persons: Sequence[questions.Person]) -> list[Told]:
    """Compare everybody's questions with their statements by the embedder that ships."""
    embedder = lazy_embedder()
    found = []
    for person in persons:
        asked = np.asarray(embedder.embed([one.text for one in person.questions]))
        found.append(Told(person, asked @ np.asarray(embedder.embed(list(person.statements))).T))
    return found


def meet_strangers(pairs: Sequence[data.Pair], rng: random.Random) -> list[data.Pair]:
    """Newcomers beside notes of others that are as near as neighbours in a vault are; the label says nothing."""
    embedder = lazy_embedder()
    notes = list({pair.old: pair for pair in pairs}.values())
    table = np.asarray(embedder.embed([note.old for note in notes]))
    found = []
    for low in range(0, len(pairs), 512):
        some = pairs[low : low + 512]
        cosines = np.asarray(embedder.embed([pair.new for pair in some])) @ table.T
        for pair, row in zip(some, cosines, strict=True):
            order = [int(at) for at in np.argsort(-row)[slice(*STRANGERS)] if NEAR[0] <= row[at] <= NEAR[1]]
            others = [notes[at] for at in order if notes[at].group != pair.group]
            found += [
                data.Pair(other.old, pair.new, pair.label, pair.domain, pair.group)
                for other in rng.sample(others, min(2, len(others)))
            ]
    return found


def draw_pairs(pairs: Sequence[data.Pair], seed: int) -> list[data.Pair]:
    """What is shown of pairs: everyday ones, some others, and newcomers beside notes of others."""
    rng = random.Random(seed)  # noqa: S311 - repeatable, not secret
    mine = [pair for pair in pairs if pair.source in EVERYDAY or pair.source.startswith("changes")]
    older = [pair for pair in pairs if pair not in mine]
    return [*mine, *rng.sample(older, min(OLDER, len(older))), *meet_strangers(rng.sample(mine, len(mine) // 4), rng)]


def is_held_back(pair: data.Pair) -> bool:
    """Whether the note of a pair teaches nothing, told by a digest of it."""
    return pair.source.startswith("changes") and int(hashlib.sha256(pair.old.encode()).hexdigest(), 16) % NOTE_OF == 0


def loss_of(net: Any, before: Any, step: Step, table: Vectors) -> tuple[Any, Any]:
    """How far what it says of the pairs of a step is from what was said before, and the mean loss of its questions."""
    torch = importlib.import_module("torch")
    functional = torch.nn.functional
    pairs, rows = network.batch_of(step.pairs, table), [row for group in step.groups for row in group]
    with torch.autocast("cpu", torch.bfloat16):
        with torch.no_grad():
            said = before.relate(before.join(*pairs))
        logits = net.relate(net.join(*pairs))
        odds = net.weigh(net.join(*network.batch_of(rows, table))).float()[:, 0]
    shares = functional.log_softmax(logits.float(), 1)
    of_pairs = functional.kl_div(shares, functional.softmax(said.float(), 1), reduction="batchmean")
    of_questions = torch.zeros(())
    for group in step.groups:
        mine, odds = odds[: len(group)], odds[len(group) :]
        alone = functional.softplus(-mine[0]) + functional.softplus(mine[1:]).mean()
        of_questions = of_questions + torch.logsumexp(mine, 0) - mine[0] + SURE * alone
    return of_pairs, of_questions / max(1, len(step.groups))


def mix(net: Any, before: Any) -> None:
    """Draw a model back to the one whose relations it keeps, but for what weighs answers."""
    torch = importlib.import_module("torch")
    known = before.state_dict()
    with torch.no_grad():
        for name, weight in net.state_dict().items():
            if not name.startswith("answer"):
                weight.mul_(1 - OF_BEFORE).add_(known[name], alpha=OF_BEFORE)


def train(net: Any, before: Any, course: Course, minutes: float, table: Vectors) -> None:
    """Fit the model in place; the rate falls to nothing with the time.

    Args:
        before: the model whose relations it keeps.
    """
    torch = importlib.import_module("torch")
    groups = layer_groups(net, [net.head1, net.head2], network.Recipe(rate=RATE, head_rate=HEAD_RATE))
    groups.append({"params": list(net.kind.parameters()), "lr": 2 * RATE})
    groups.append({"params": [*net.answer1.parameters(), *net.answer2.parameters()], "lr": ANSWER_RATE})
    rates = [group["lr"] for group in groups]
    best = torch.optim.AdamW(groups, weight_decay=0.01, fused=True)
    net.train()
    before.eval()
    start, totals = time.monotonic(), np.zeros(2)
    for number, step in enumerate(course.run(), 1):
        done = (time.monotonic() - start) / (60 * minutes)
        if done >= 1:
            break
        for group, rate in zip(best.param_groups, rates, strict=True):
            group["lr"] = rate * min(1.0, number / WARM_STEPS) * max(0.02, 1 - done)
        of_pairs, of_questions = loss_of(net, before, step, table)
        best.zero_grad()
        (AS_BEFORE * of_pairs + of_questions).backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        best.step()
        totals += of_pairs.item(), of_questions.item()
        if number % 100 == 0:
            print(f"{number}: pairs {totals[0] / 100:.3f}, questions {totals[1] / 100:.3f}, {done:.0%}", flush=True)
            totals[:] = 0
    net.eval()


@dataclass(frozen=True)
class Asked:
    """What a model says of the statements nearest to a question: their log odds, and which of them answer it."""

    odds: NDArray[np.float64]
    right: NDArray[np.bool_]

    @property
    def is_first_right(self) -> bool:
        """Whether the one with the greatest odds answers."""
        return bool(self.right[self.odds.argmax()])


def ask(path: Path, told: Sequence[Told], shared: Shared, nearest: int = 8) -> list[Asked]:
    """Have an int8 file weigh, for each question of each person, the statements nearest to it by the embedder."""
    found = []
    for one in told:
        for nr, question in enumerate(one.person.questions):
            order = np.argsort(-one.nearness[nr])[:nearest].tolist()
            asked = prepare_text(question.text)
            rows = [encode_pair(shared.tokenizer, prepare_text(one.person.statements[at]), asked) for at in order]
            odds = onnx_outputs(path, rows, shared, "answers")[:, 0]
            found.append(Asked(odds, np.array([at in question.answers for at in order])))
    return found


def answers_from(found: Sequence[Asked]) -> float:
    """The least log odds from which on the best statement answers in TRUE_ANSWERS of cases.

    Each question counts twice: as it is, and where what answers it was never told.
    """
    best = [(float(one.odds.max()), one.is_first_right) for one in found]
    best += [(float(one.odds[~one.right].max()), False) for one in found if not one.right.all()]
    best.sort(reverse=True)
    right = np.cumsum([is_right for _, is_right in best]) / np.arange(1, len(best) + 1)
    last = int(np.flatnonzero(right >= TRUE_ANSWERS)[-1])
    return round(best[last][0], 3)


def measure(
    path: Path, before: Path, told: Sequence[Told], pairs: Sequence[data.Pair], shared: Shared
) -> tuple[float, dict[str, Any]]:
    """What an int8 file says of what taught nothing.

    Args:
        before: the file whose relations it keeps.

    Returns:
        The log odds from which a memory surely answers, and figures for the manifest.
    """
    rows = [read(pair.old, pair.new, shared) for pair in pairs]
    labels = [onnx_outputs(one, rows, shared).argmax(1) for one in (path, before)]
    asked = ask(path, told, shared)
    least = answers_from(asked)
    figures = {
        "held": len(told),
        "asked": len(asked),
        "first_right": mean_share(one.is_first_right for one in asked),
        "nearest_right": mean_share(bool(one.right[0]) for one in asked),
        "answers_found": mean_share(one.is_first_right and one.odds.max() >= least for one in asked),
        "right_of_found": TRUE_ANSWERS,
        "pairs": len(pairs),
        "agreement": mean_share((labels[0] == labels[1]).tolist()),
    }
    return least, figures


def mean_share(flags: Iterable[bool]) -> float:
    """The share of what is so, to four places."""
    return round(float(np.mean(list(flags))), 4)


def make(arguments: argparse.Namespace) -> None:
    """Train, measure and write everything."""
    importlib.import_module("torch").set_num_threads(arguments.threads)
    pairs = [*data.load()[0], *data.load(data.CHANGES)[0]]
    persons, digest = questions.load()
    shared, recipe = find_shared(), network.Recipe()
    begin, target = arguments.begin or TARGET / "model.onnx", arguments.target
    keeps = arguments.keeps or begin
    if arguments.minutes:
        net, before = (network.build(shared.weights, recipe) for _ in range(2))
        take_over(net, begin, recipe.layers)
        take_over(before, keeps, recipe.layers)
        shown = draw_pairs([pair for pair in pairs if not is_held_back(pair)], arguments.seed)
        course = Course(tell([one for one in persons if not one.is_held_back]), shown, shared, arguments.seed)
        train(net, before, course, arguments.minutes, shared.table)
        mix(net, before)
        target.mkdir(parents=True, exist_ok=True)
        write_onnx(net, target / "model.onnx")
    held = tell([one for one in persons if one.is_held_back])
    kept = [pair for pair in pairs if is_held_back(pair)]
    least, figures = measure(target / "model.onnx", keeps, held, kept, shared)
    manifest = json.loads((TARGET / "manifest.json").read_text("utf-8"))
    manifest["files"]["model.onnx"] = sha256_of(target / "model.onnx")
    manifest["calibration"]["answers_from"] = least
    manifest["asked"] = {**questions.counted(persons), "sha256": digest, "keeps": sha256_of(keeps), **figures}
    (target / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n", "utf-8")
    write_card(target / "CARD.md", manifest, Scores(**manifest["held_back"]))
    print(json.dumps({"answers_from": least, "asked": manifest["asked"]}), flush=True)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="of training; 0 to measure what lies in the target")
    parser.add_argument("--begin", type=Path, help="the int8 file to go on from; the one that ships")
    parser.add_argument("--keeps", type=Path, help="the int8 file whose relations it keeps; the one it goes on from")
    parser.add_argument("--target", type=Path, default=TARGET)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    make(parser.parse_args())


if __name__ == "__main__":
    main()
