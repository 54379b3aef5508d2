"""Teach the relation model which memory answers a question, and which one a later word ends.

What it says of how pairs relate stays as it was, but for plain ends. Run by hand when questions or later lines were
added, in an environment with the `model` extra of pyproject.toml:

    python packaging/training/relation_model/train_heads.py [--minutes 10] [--begin FILE] [--target FOLDER]

Each step learns from some questions, each beside the statement that answers it and others of the same person that
look as if they did; from some later lines, each beside what it ends, if anything, and what else is near it, weighed
against each other as in a vault; and from some pairs, of which it learns to say what the model that it goes on from
says. The labels of `changes/` teach what ends, not how pairs relate: a model that learned the latter ended more that
was merely near. Those of `plain_ends/` teach both. Finally the head of relations is refitted alone, on the output of
the trained layers: partly to what was said before, partly to labels. One person in twelve and one note in fourteen of
`changes/` and `plain_ends/` teach nothing: they say how often it is right, whether it says of pairs what it said
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
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT), str(ROOT / "packaging"), str(ROOT / "packaging" / "training")]

import chance_data  # noqa: E402
import change_data as changes  # noqa: E402
import question_data as questions  # noqa: E402
import relation_data as data  # noqa: E402
import relation_net as network  # noqa: E402
from build_model import sha256_of  # noqa: E402
from core.belief.relate.features import Features  # noqa: E402
from core.embed.embedder import lazy_embedder  # noqa: E402
from core.score.trust import SURE_END, end_shares  # noqa: E402
from encoder_net import Shared, find_shared, layer_groups, take_over  # noqa: E402
from relation_card import Scores, write_card  # noqa: E402
from train_relations import EVERYDAY, TARGET, onnx_outputs, read, write_onnx  # noqa: E402

NOTE_OF = 14
MEASURING = ("plain_ends13", "near_events4", "near_events7")
"""Files of plain pairs that teach nothing: they measure."""
PAIRS, QUESTIONS, LINES, NOTES, PLAIN = 8, 2, 11, 1, 5
"""Of a step: pairs whose relation is kept, questions, later lines, pairs that teach what ends, and plain ones, which
teach their label, too."""
RUN_TOGETHER = 16
"""Rows that the layers run side by side."""
OLDER = 3_000
"""Pairs of files that are neither EVERYDAY, nor `changes/`, nor plain."""
NEAR_EVENTS, NEAR_TIMES = "near_events", 2
"""Plain pairs of these files, what happens near a state that goes on or ends it, are shown so often."""
CHANCE = 5_000
"""Pairs of texts that meet by chance, shown like plain ones: one of a few words may end anything, or so it seems to a
model that knows only pairs about one matter."""
STRANGERS, NEAR = (20, 200), (0.25, 0.55)
"""By nearness, those notes of others that a newcomer meets as in a vault, near by chance; their cosines."""
MET = 3
"""Such notes beside a pair."""
ENDING_NOTHING = 0.35
"""Of the lines of a step, so many are statements of the beginning, which end nothing: as most of what is told."""
SURE = 0.3
"""What the log odds of single statements count beside which of them is the best."""
WEIGHTS = 8.0, 1.0, 0.5, 1.0
"""What it counts to say of pairs what was said before, of plain ones their label, which statement answers, and what
ends."""
RATE, HEAD_RATE, OWN_RATE = 1e-4, 3e-4, 5e-4
WARM_STEPS = 60
OF_BEFORE = 0.1
"""Of the weights that ship, so much is of the model whose relations it keeps: then more of them are as they were."""
REFITTED, REFITTED_CHANGES = 17_000, 4_000
"""Pairs of `relations/` and of `changes/` by which the head of relations is refitted in the end."""
REFIT_PASSES, REFIT_BATCH, REFIT_RATE = 12, 128, 1e-3
OF_LABELS, OF_PLAIN, OF_UNRELATED = 0.6, 0.93, 0.7
"""The share of the label in the target of a pair of `relations/`, of a plain one, and of a newcomer beside what it has
nothing to do with; the rest is what was said before."""
TRUE_ANSWERS = 0.8
"""From the log odds on from which so many of those that are best answer, whether anything does or not, one does."""

DRESSED = 0.06
"""Of the texts of a life, so many are shown in another case, person or end mark."""

ENDS = ("ends1", "ends2")
"""The parts of the head that says what ends."""

Vectors = NDArray[np.float32]
Item = TypeVar("Item")


@dataclass(frozen=True)
class Told:
    """A person with the nearness of each statement to each question, shape (questions, statements)."""

    person: questions.Person
    nearness: Vectors


@dataclass(frozen=True)
class Lived:
    """A life with the nearness of all that was said to each other, shape (texts, texts)."""

    life: changes.Life
    nearness: Vectors


@dataclass(frozen=True)
class Met:
    """A pair that teaches what ends, and notes of others near the newcomer."""

    pair: data.Pair
    strangers: tuple[str, ...]


@dataclass(frozen=True)
class Group:
    """Rows of one newcomer or question, weighed against each other; `has_best`: the first of them is the one."""

    rows: list[Features]
    has_best: bool = True


@dataclass(frozen=True)
class Step:
    """What one step learns from: pairs whose relation is kept, questions, and newcomers.

    Attributes:
        labels: of the first newcomers, how each relates to the first of its rows.
    """

    pairs: list[Features]
    asked: list[Group]
    ended: list[Group]
    labels: list[int]


@dataclass(frozen=True)
class Lesson:
    """All that teaches; who and what is held back is not among it."""

    told: list[Told]
    lived: list[Lived]
    met: list[Met]
    plain: list[Met]
    pairs: list[data.Pair]


class Course:
    """Steps, drawn anew as long as they are asked for."""

    def __init__(self, lesson: Lesson, shared: Shared, seed: int) -> None:
        """Take what teaches."""
        self._shared = shared
        self._rng = random.Random(seed)  # noqa: S311 - repeatable, not secret
        self._pairs = self._draw(lesson.pairs)
        self._asked = self._draw([(one, nr) for one in lesson.told for nr in range(len(one.person.questions))])
        self._lines = self._draw([(one, line) for one in lesson.lived for line in one.life.lines])
        self._firsts = self._draw([(one, line) for one in lesson.lived for line in one.life.firsts])
        self._met = self._draw(lesson.met)
        self._plain = self._draw(lesson.plain)

    def run(self) -> Iterator[Step]:
        """Steps without end."""
        while True:
            dressed = (data.dressed(next(self._pairs), self._rng) for _ in range(PAIRS))
            plain = [next(self._plain) for _ in range(PLAIN)]
            met = [*plain, *(next(self._met) for _ in range(NOTES))]
            yield Step(
                [read(*texts, self._shared) for texts in dressed],
                [self._read_question(*next(self._asked)) for _ in range(QUESTIONS)],
                [*(self._read_met(one) for one in met), *(self._read_line() for _ in range(LINES))],
                [one.pair.label for one in plain],
            )

    def _draw(self, items: Sequence[Item]) -> Iterator[Item]:
        """Items without end, each once before any comes again."""
        while True:
            yield from self._rng.sample(items, len(items))

    def _read_question(self, told: Told, nr: int) -> Group:
        question, texts = questions.draw_group(told.person, told.person.questions[nr], told.nearness[nr], self._rng)
        return Group([read(text, question, self._shared) for text in texts])

    def _read_line(self) -> Group:
        lived, line = next(self._firsts if self._rng.random() < ENDING_NOTHING else self._lines)
        rivals = changes.draw_rivals(line, lived.nearness[line.at], self._rng)
        new, *olds = (self._dress(lived.life.texts[at]) for at in (line.at, *rivals))
        return Group([read(old, new, self._shared) for old in olds], bool(line.ends))

    def _read_met(self, met: Met) -> Group:
        old, new = data.dressed(met.pair, self._rng)
        strangers = self._rng.sample(met.strangers, min(MET, len(met.strangers)))
        is_ended = data.LABELS[met.pair.label] == "SUPERSEDE"
        return Group([read(text, new, self._shared) for text in (old, *strangers)], is_ended)

    def _dress(self, text: str) -> str:
        return data.edited(text, self._rng) if self._rng.random() < DRESSED else text


def tell(persons: Sequence[questions.Person]) -> list[Told]:
    """Compare everybody's questions with their statements by the embedder that ships."""
    embedder = lazy_embedder()
    found = []
    for person in persons:
        asked = np.asarray(embedder.embed([one.text for one in person.questions]))
        found.append(Told(person, asked @ np.asarray(embedder.embed(list(person.statements))).T))
    return found


def live(lives: Sequence[changes.Life]) -> list[Lived]:
    """Compare all that each said by the embedder that ships."""
    embedder = lazy_embedder()
    vectors = [np.asarray(embedder.embed(list(life.texts))) for life in lives]
    return [Lived(life, table @ table.T) for life, table in zip(lives, vectors, strict=True)]


def meet_strangers(pairs: Sequence[data.Pair]) -> list[Met]:
    """Newcomers with notes of others that are as near as neighbours in a vault are."""
    embedder = lazy_embedder()
    notes = list({pair.old: pair for pair in pairs}.values())
    table = np.asarray(embedder.embed([note.old for note in notes]))
    found = []
    for low in range(0, len(pairs), 512):
        some = pairs[low : low + 512]
        cosines = np.asarray(embedder.embed([pair.new for pair in some])) @ table.T
        for pair, row in zip(some, cosines, strict=True):
            order = [int(at) for at in np.argsort(-row)[slice(*STRANGERS)] if NEAR[0] <= row[at] <= NEAR[1]]
            others = [notes[at].old for at in order if notes[at].group != pair.group]
            found.append(Met(pair, tuple(others)))
    return found


def make_lesson(
    persons: Sequence[questions.Person], lives: Sequence[changes.Life], pairs: Sequence[data.Pair], seed: int
) -> Lesson:
    """What is shown: of pairs everyday ones, some others, and newcomers beside notes of others."""
    rng = random.Random(seed)  # noqa: S311 - repeatable, not secret
    shown = [pair for pair in pairs if not is_held_back(pair)]
    mine = [pair for pair in shown if is_everyday(pair)]
    plain = [pair for pair in shown if is_plain(pair)]
    older = [pair for pair in shown if not is_everyday(pair) and not is_plain(pair)]
    met = meet_strangers(mine)
    beside = [
        data.Pair(old, one.pair.new, one.pair.label, one.pair.domain, one.pair.group)
        for one in rng.sample(met, len(met) // 4)
        for old in rng.sample(one.strangers, min(MET, len(one.strangers)))
    ]
    by_chance = chance_data.draw_pairs(CHANCE, rng, lambda texts: np.asarray(lazy_embedder().embed(list(texts))))
    return Lesson(
        tell([one for one in persons if not one.is_held_back]),
        live([one for one in lives if not one.is_held_back]),
        met,
        [
            *meet_strangers([pair for pair in plain for _ in range(times_shown(pair))]),
            *(Met(one, ()) for one in by_chance),
        ],
        [*mine, *rng.sample(older, min(OLDER, len(older))), *beside],
    )


def is_everyday(pair: data.Pair) -> bool:
    """Whether a pair is of what mostly meets in a vault."""
    return pair.source in EVERYDAY or pair.source.startswith("changes")


def is_plain(pair: data.Pair) -> bool:
    """Whether a pair is of those whose label is learned."""
    return pair.source.startswith(("plain_ends", NEAR_EVENTS))


def times_shown(pair: data.Pair) -> int:
    """How often a plain pair is shown while each other one is shown once."""
    return NEAR_TIMES if pair.source.startswith(NEAR_EVENTS) else 1


def is_held_back(pair: data.Pair) -> bool:
    """Whether the note of a pair teaches nothing, told by its file or by a digest of it."""
    if pair.source in MEASURING:
        return True
    return (pair.source.startswith("changes") or is_plain(pair)) and int(
        hashlib.sha256(pair.old.encode()).hexdigest(), 16
    ) % NOTE_OF == 0


def losses_of(net: Any, before: Any, step: Step, table: Vectors) -> tuple[Any, Any, Any, Any]:
    """How far what it says of pairs is from what was said before; mean losses of labels, questions and newcomers."""
    torch = importlib.import_module("torch")
    functional = torch.nn.functional
    groups = [group.rows for group in (*step.asked, *step.ended)]
    asked = sum(len(group.rows) for group in step.asked)
    with torch.autocast("cpu", torch.bfloat16):
        with torch.no_grad():
            said = before.relate(join_rows(before, step.pairs, table))
        joined = join_rows(net, [*step.pairs, *(row for rows in groups for row in rows)], table)
        paired, joined = joined[: len(step.pairs)], joined[len(step.pairs) :]
        firsts = np.cumsum([0, *(len(group.rows) for group in step.ended)])[: len(step.labels)]
        logits = net.relate(torch.cat([paired, joined[asked:][firsts]])).float()
        odds = net.weigh(joined[:asked]).float()[:, 0], net.end(joined[asked:]).float()[:, 0]
    shares = functional.log_softmax(logits[: len(paired)], 1)
    of_pairs = functional.kl_div(shares, functional.softmax(said.float(), 1), reduction="batchmean")
    of_labels = functional.cross_entropy(logits[len(paired) :], torch.tensor(step.labels))
    return (
        of_pairs,
        of_labels,
        loss_of_groups(step.asked, odds[0]),
        loss_of_groups(step.ended, odds[1], beside_none=True),
    )


def join_rows(net: Any, rows: Sequence[Features], table: Vectors) -> Any:
    """What the heads read of each row, in order; rows of about one length are run together, for little padding."""
    torch = importlib.import_module("torch")
    order = sorted(range(len(rows)), key=lambda nr: len(rows[nr].ids))
    parts = [order[low : low + RUN_TOGETHER] for low in range(0, len(order), RUN_TOGETHER)]
    joined = torch.cat([net.join(*network.batch_of([rows[nr] for nr in part], table)) for part in parts])
    return joined[torch.argsort(torch.tensor(order))]


def loss_of_groups(groups: Sequence[Group], odds: Any, *, beside_none: bool = False) -> Any:
    """The mean loss of some groups.

    Args:
        odds: of their rows, one behind the other.
        beside_none: that none is the best is weighed with them, at 0.
    """
    torch = importlib.import_module("torch")
    softplus, whole = torch.nn.functional.softplus, torch.zeros(())
    for group in groups:
        mine, odds = odds[: len(group.rows)], odds[len(group.rows) :]
        weighed = torch.cat([torch.zeros(1), mine]) if beside_none else mine
        best = mine[0] if group.has_best else torch.zeros(())
        alone = softplus(-mine[0]) if group.has_best else softplus(mine[0])
        whole = (
            whole
            + torch.logsumexp(weighed, 0)
            - best
            + SURE * (alone + softplus(mine[1:]).sum() / max(1, len(mine) - 1))
        )
    return whole / max(1, len(groups))


def mix(net: Any, before: Any) -> None:
    """Draw a model back to the one whose relations it keeps, but for the heads that are taught."""
    torch = importlib.import_module("torch")
    known = before.state_dict()
    with torch.no_grad():
        for name, weight in net.state_dict().items():
            if not name.startswith(("answer", "ends")):
                weight.mul_(1 - OF_BEFORE).add_(known[name], alpha=OF_BEFORE)


def train(net: Any, before: Any, course: Course, minutes: float, table: Vectors) -> None:
    """Fit the model in place; the rate falls to nothing with the time.

    Args:
        before: the model whose relations it keeps.
    """
    torch = importlib.import_module("torch")
    groups = layer_groups(net, [net.head1, net.head2], network.Recipe(rate=RATE, head_rate=HEAD_RATE))
    groups.append({"params": list(net.kind.parameters()), "lr": 2 * RATE})
    own = (net.answer1, net.answer2, net.ends1, net.ends2)
    groups.append({"params": [weight for part in own for weight in part.parameters()], "lr": OWN_RATE})
    rates = [group["lr"] for group in groups]
    best = torch.optim.AdamW(groups, weight_decay=0.01, fused=True)
    net.train()
    before.eval()
    start, totals = time.monotonic(), np.zeros(4)
    for number, step in enumerate(course.run(), 1):
        done = (time.monotonic() - start) / (60 * minutes)
        if done >= 1:
            break
        for group, rate in zip(best.param_groups, rates, strict=True):
            group["lr"] = rate * min(1.0, number / WARM_STEPS) * max(0.02, 1 - done)
        losses = losses_of(net, before, step, table)
        best.zero_grad()
        sum(weight * loss for weight, loss in zip(WEIGHTS, losses, strict=True)).backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        best.step()
        totals += [loss.item() for loss in losses]
        if number % 50 == 0:
            print(number, *(totals / 50).round(3), f"{done:.0%}", flush=True)
            totals[:] = 0
    net.eval()


def draw_refit(
    lesson: Lesson, persons: Sequence[questions.Person], pairs: Sequence[data.Pair], rng: random.Random
) -> list[tuple[data.Pair, float]]:
    """Pairs to refit the head of relations by, each with the share of its label in what is to be said of it."""
    told = [pair for pair in pairs if not is_held_back(pair) and not is_plain(pair)]
    unrelated = chance_data.draw_unrelated([(one.pair.new, one.strangers) for one in lesson.plain], persons, rng)
    changed = [pair for pair in told if pair.source.startswith("changes")]
    labelled = [pair for pair in told if not pair.source.startswith("changes")]
    return [
        *((pair, OF_LABELS) for pair in rng.sample(labelled, min(REFITTED, len(labelled)))),
        *((one.pair, OF_PLAIN) for one in lesson.plain),
        *((pair, OF_UNRELATED) for pair in unrelated),
        *((pair, 0.0) for pair in rng.sample(changed, min(REFITTED_CHANGES, len(changed)))),
    ]


def refit_relations(net: Any, before: Any, drawn: Sequence[tuple[data.Pair, float]], shared: Shared) -> None:
    """Refit the head of relations alone, partly to what the model before says of pairs, partly to their labels.

    The layers below it moved while the other heads were taught, and the steps of the training are too few to follow.
    """
    torch = importlib.import_module("torch")
    functional, rng = torch.nn.functional, random.Random(1)  # noqa: S311 - repeatable, not secret
    rows = [read(*data.dressed(pair, rng), shared) for pair, _ in drawn]
    with torch.no_grad():
        inputs = join_rows(net, rows, shared.table)
        said = functional.softmax(before.relate(join_rows(before, rows, shared.table)), 1)
    labels = functional.one_hot(torch.tensor([pair.label for pair, _ in drawn]), said.shape[1]).float()
    targets = torch.lerp(said, labels, torch.tensor([[share] for _, share in drawn]))
    best = torch.optim.AdamW([*net.head1.parameters(), *net.head2.parameters()], REFIT_RATE, weight_decay=0.01)
    steps = REFIT_PASSES * (len(rows) // REFIT_BATCH + 1)
    falls = torch.optim.lr_scheduler.LinearLR(best, 1.0, 0.02, steps)
    net.train()
    for _ in range(REFIT_PASSES):
        for order in torch.randperm(len(rows)).split(REFIT_BATCH):
            loss = functional.kl_div(
                functional.log_softmax(net.relate(inputs[order]), 1), targets[order], reduction="batchmean"
            )
            best.zero_grad()
            loss.backward()
            best.step()
            falls.step()
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
    cases = [
        (one.person, question, np.argsort(-row)[:nearest].tolist())
        for one in told
        for question, row in zip(one.person.questions, one.nearness, strict=True)
    ]
    rows = [read(person.statements[at], question.text, shared) for person, question, order in cases for at in order]
    odds = iter(np.split(onnx_outputs(path, rows, shared, "answers")[:, 0], np.cumsum([len(one[2]) for one in cases])))
    return [Asked(next(odds), np.array([at in question.answers for at in order])) for _, question, order in cases]


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


@dataclass(frozen=True)
class Weighed:
    """What a model says of a later line beside what is nearest to it.

    Attributes:
        share: how likely the likeliest of them is ended.
        is_right: whether that one is.
        ends: whether the line ends anything.
    """

    share: float
    is_right: bool
    ends: bool


def weigh_lines(path: Path, lived: Sequence[Lived], shared: Shared, nearest: int = 5) -> list[Weighed]:
    """Have an int8 file weigh, for each later line, what held and is nearest to it by the embedder."""
    cases = []
    for one in lived:
        for line in one.life.lines:
            order = [int(at) for at in np.argsort(-one.nearness[line.at]) if at in line.before][:nearest]
            cases.append((one.life.texts, line, order))
    rows = [read(texts[at], texts[line.at], shared) for texts, line, order in cases for at in order]
    odds = iter(np.split(onnx_outputs(path, rows, shared, "ends")[:, 0], np.cumsum([len(one[2]) for one in cases])))
    found = []
    for _, line, order in cases:
        shares = end_shares(dict(zip(map(str, order), next(odds).tolist(), strict=True)))
        likeliest = max(order, key=lambda at: shares[str(at)])
        found.append(Weighed(shares[str(likeliest)], likeliest in line.ends, bool(line.ends)))
    return found


def measure(path: Path, before: Path, held: Lesson, shared: Shared) -> tuple[float, dict[str, Any], dict[str, Any]]:
    """What an int8 file says of what taught nothing.

    Args:
        before: the file whose relations it keeps.
        held: what is held back.

    Returns:
        The log odds from which a memory surely answers, and figures for the manifest: of answers and of ends.
    """
    kept, plain = ([pair for pair in held.pairs if is_plain(pair) is wanted] for wanted in (False, True))
    rows = [read(pair.old, pair.new, shared) for pair in (*kept, *plain)]
    labels = [onnx_outputs(one, rows, shared).argmax(1) for one in (path, before)]
    right = labels[0][len(kept) :] == [pair.label for pair in plain]
    asked = ask(path, held.told, shared)
    least = answers_from(asked)
    of_answers = {
        "held": len(held.told),
        "asked": len(asked),
        "first_right": mean_share(one.is_first_right for one in asked),
        "nearest_right": mean_share(bool(one.right[0]) for one in asked),
        "answers_found": mean_share(one.is_first_right and one.odds.max() >= least for one in asked),
        "right_of_found": TRUE_ANSWERS,
        "pairs": len(kept),
        "agreement": mean_share((labels[0] == labels[1])[: len(kept)].tolist()),
        "plain": len(plain),
        "plain_right": mean_share(right.tolist()),
    }
    weighed = weigh_lines(path, held.lived, shared)
    told = [one for one in weighed if one.share >= SURE_END]
    of_ends = {
        "held": len(held.lived),
        "weighed": len(weighed),
        "sure_from": SURE_END,
        "found": mean_share(one.is_right and one.share >= SURE_END for one in weighed if one.ends),
        "right_of_found": mean_share(one.is_right for one in told),
    }
    return least, of_answers, of_ends


def mean_share(flags: Iterable[bool]) -> float:
    """The share of what is so, to four places."""
    return round(float(np.mean(list(flags))), 4)


def make(arguments: argparse.Namespace) -> None:
    """Train, measure and write everything."""
    importlib.import_module("torch").set_num_threads(arguments.threads)
    pairs = [*data.load()[0], *data.load(data.CHANGES)[0], *data.load(data.PLAIN_ENDS)[0]]
    persons, digest = questions.load()
    shared, recipe = find_shared(), network.Recipe()
    begin, target = arguments.begin or TARGET / "model.onnx", arguments.target
    keeps = arguments.keeps or begin
    lives, later_digest = changes.load(persons)
    if arguments.minutes:
        net, before = (network.build(shared.weights, recipe) for _ in range(2))
        take_over(net, begin, recipe.layers, ENDS if arguments.fresh_ends else ())
        take_over(before, keeps, recipe.layers, ENDS)  # it is asked for relations alone, and may have no such head
        if arguments.fresh_ends:
            network.begin_ends(net)
        lesson = make_lesson(persons, lives, pairs, arguments.seed)
        train(net, before, Course(lesson, shared, arguments.seed), arguments.minutes, shared.table)
        target.mkdir(parents=True, exist_ok=True)
        mix(net, before)
        drawn = draw_refit(lesson, persons, pairs, random.Random(arguments.seed))  # noqa: S311 - repeatable
        refit_relations(net, before, drawn, shared)
        write_onnx(net, target / "model.onnx")
    held = Lesson(
        tell([one for one in persons if one.is_held_back]),
        live([one for one in lives if one.is_held_back]),
        [],
        [],
        [pair for pair in pairs if is_held_back(pair)],
    )
    least, of_answers, of_ends = measure(target / "model.onnx", keeps, held, shared)
    manifest = json.loads((TARGET / "manifest.json").read_text("utf-8"))
    manifest["files"]["model.onnx"] = sha256_of(target / "model.onnx")
    manifest["calibration"]["answers_from"] = least
    manifest["asked"] = {**questions.counted(persons), "sha256": digest, "keeps": sha256_of(keeps), **of_answers}
    manifest["ended"] = {**changes.counted(lives), "sha256": later_digest, **of_ends}
    (target / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n", "utf-8")
    write_card(target / "CARD.md", manifest, Scores(**manifest["held_back"]))
    print(json.dumps({name: manifest[name] for name in ("calibration", "asked", "ended")}), flush=True)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="of training; 0 to measure what lies in the target")
    parser.add_argument("--begin", type=Path, help="the int8 file to go on from; the one that ships")
    parser.add_argument("--keeps", type=Path, help="the int8 file whose relations it keeps; the one it goes on from")
    parser.add_argument("--fresh-ends", action="store_true", help="what ends is learned from the beginning")
    parser.add_argument("--target", type=Path, default=TARGET)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    make(parser.parse_args())


if __name__ == "__main__":
    main()
