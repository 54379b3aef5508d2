"""Whatever belief does to a vault, taking all of it back leads to where it began, and it is sound on the way.

Readers in the test's hand read one claim of each sentence and relate texts at random, but the same pair always alike.
The images of a step are written and read a few at a time, as those of a very large step are.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from engine_rig import START_MS, Rig, WordEmbedder, differences, rig_at
from example_counts import count_examples
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from core.engine.imports.comparison import compare_imported
from core.errors import Code, LociError
from core.intake import step_images
from core.intake.claims import TextReaders
from core.intake.transaction import unit_of_work
from core.types.belief import LABELS, ClaimDraft, ComparedText, Label, Relation
from core.types.reviews import Decision
from core.types.values import OWNER_ACTOR, Action, Actor, Kind, Source, When
from core.types.views import Revision

DAY_MS = 86_400_000
NAMES, VERBS_SAID = ("Ada", "Bob"), ("lives in", "keeps", "likes")
THINGS = ("Graz", "Linz", "bees", "tea")
CONFIDENCES = (0.55, 0.7, 0.85, 0.97)
UNEXPECTED = frozenset({Code.BUG, Code.VAULT_DAMAGED, Code.BUSY, Code.VAULT_LOCKED})
FIRST_STEPS = 3
"""The pairings with which every life begins; they are not taken back."""


def sentence(nr: int) -> str:
    """One of a few sentences, some of which contradict each other."""
    return f"{NAMES[nr % 2]} {VERBS_SAID[nr // 2 % 3]} {THINGS[nr // 6 % 4]} for sure"


def read(text: str, *, now_ms: int | None = None, said_ms: int | None = None) -> tuple[ClaimDraft, ...]:
    """One claim of each sentence; who `likes` something may like another thing too."""
    del now_ms, said_ms
    found = []
    for verb in VERBS_SAID:
        for name in NAMES:
            start = text.find(f"{name} {verb} ")
            if start < 0:
                continue
            rest = text[start + len(f"{name} {verb} ") :].split(" ")[0].rstrip(".")
            end = start + len(f"{name} {verb} ") + len(rest)
            predicate = verb.replace(" ", "_")
            found.append(
                ClaimDraft(name, predicate, rest, exclusive=verb != "likes", start=start, end=end, confidence=0.9)
            )
    return tuple(found)


class Oracle:
    """Relates two texts by a hash of both."""

    def classify(self, pairs: Sequence[tuple[ComparedText, ComparedText]]) -> tuple[Relation, ...]:
        """One relation for each pair."""
        return tuple(self._one(old.text, new.text) for old, new in pairs)

    @staticmethod
    def _one(old: str, new: str) -> Relation:
        seed = hashlib.sha256(f"{old}\0{new}".encode()).digest()
        label, confidence = LABELS[seed[0] % 4], CONFIDENCES[seed[1] % 4]
        rest = (1 - confidence) / 3
        shares = {one: confidence if one is label else rest for one in LABELS}
        reason = "same_meaning" if label is Label.DUPLICATE else "value_changed"
        return Relation(label, confidence, shares, "builtin", reason)


class Life:
    """Does things to a vault."""

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self.clients = [
            rig.client("Writer", "read", "write", "curate", "space:home"),
            rig.client("Speaker", "read", "write", "space:home", "speak_for_user"),
            rig.client("Shy", "read", "propose", "space:home"),
        ]
        self.brought = 0

    def do(self, verb: str, a: int, b: int) -> None:
        """One verb; a refusal that may happen is no failure."""
        try:
            getattr(self, verb)(a, b)
        except LociError as error:
            if error.code in UNEXPECTED:
                raise

    # ---- what is told

    def say(self, a: int, b: int) -> None:
        source = (Source.USER_EXPLICIT, Source.USER_IMPLICIT, Source.DOCUMENT)[b % 3]
        self.rig.store(sentence(a), source=source, occurred=_when(b))

    def claim(self, a: int, b: int) -> None:
        given: dict[str, Any] = {"subject": NAMES[a % 2], "predicate": "lives_in", "value": THINGS[b % 4]}
        self.rig.store(sentence(a), claim={**given, "exclusive": True}, kind=(Kind.FACT, Kind.RULE)[a % 2])

    def tell(self, a: int, b: int) -> None:
        source = (Source.INFERENCE, Source.TOOL_OUTPUT)[a % 2] if b % 2 else Source.USER_EXPLICIT
        who = self.clients[0 if source is not Source.USER_EXPLICIT else 1]
        self.rig.store(sentence(a), who, space="home", source=source, occurred=_when(b), session=str(b % 2))

    def propose(self, a: int, _: int) -> None:
        self.rig.store(sentence(a), self.clients[2], space="home")

    def bring(self, a: int, b: int) -> None:
        self.brought += 1
        rows = [
            {"text": sentence(a + 5 * nr), "kind": "fact", "ref": f"{self.brought}-{nr}"} for nr in range(1 + b % 3)
        ]
        self.rig.bring(rows, name=f"{self.brought}.jsonl")
        compare_imported(self.rig.opened.storage, self.rig.opened.search)

    # ---- what is said of it

    def verdict(self, a: int, b: int) -> None:
        verb = ("reinforce", "dispute", "confirm", "corroborate")[b % 4]
        getattr(self.rig.engine.memories, verb)(self._some(a), self._who(a)).result(30)

    def resolve(self, a: int, b: int) -> None:
        waiting = [str(row[0]) for row in self.rig.rows("SELECT id FROM conflicts WHERE state = 'open' ORDER BY id")]
        if not waiting:
            return
        item = self.rig.engine.conflicts.read_item(waiting[a % len(waiting)]).result(30)
        actions = [action for action in item.actions if action is not Action.SKIP]
        if actions:
            action = actions[b % len(actions)]
            decision = Decision(action, "Ada and Bob keep to themselves", begin=When(START_MS), when="it rains")
            self.rig.engine.conflicts.resolve(item.id, decision).result(30)

    def edit(self, a: int, b: int) -> None:
        self.rig.engine.library.revise_memories((self._some(a),), Revision(text=sentence(b))).result(30)

    def forget(self, a: int, _: int) -> None:
        self.rig.forget(self._some(a))

    def undo(self, _: int, __: int) -> None:
        step = newest_step(self.rig)
        if step is not None:
            self.rig.undo(step)

    def _some(self, nr: int) -> str:
        ids = [str(row[0]) for row in self.rig.rows("SELECT id FROM memories ORDER BY n")]
        return ids[nr % len(ids)] if ids else "nothing"

    def _who(self, nr: int) -> Actor:
        return (OWNER_ACTOR, *self.clients[:2])[nr % 3]


def _when(nr: int) -> When | None:
    return None if nr % 3 == 0 else When(START_MS - (nr % 3) * 40 * DAY_MS)


def newest_step(rig: Rig) -> str | None:
    """The newest step that holds, whoever took it; not the pairings."""
    found = rig.rows("SELECT id FROM undo_steps WHERE undone_by IS NULL AND undoes_id IS NULL ORDER BY rowid")
    return str(found[-1][0]) if len(found) > FIRST_STEPS else None


VERBS = ["say", "claim", "tell", "propose", "bring", "verdict", "resolve", "edit", "forget", "undo"]
CALLS = st.lists(st.tuples(st.sampled_from(VERBS), st.integers(0, 23), st.integers(0, 11)), min_size=3, max_size=12)
QUICK = settings(
    max_examples=count_examples(8),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large],
)
CLASH = [("tell", 0, 1), ("tell", 6, 1), ("say", 12, 0), ("claim", 0, 1), ("bring", 6, 2), ("resolve", 0, 0)]


@contextmanager
def fresh_rig(folder: Path) -> Iterator[Rig]:
    embedder = WordEmbedder()
    readers = TextReaders(extract=read, relate=Oracle(), embed=embedder.embed_one, gate=0.2)
    with (
        patch.object(step_images, "_PAGE", 3),
        patch.object(unit_of_work, "_IMAGES_AT_ONCE", 4),
        tempfile.TemporaryDirectory(dir=folder) as name,
        rig_at(Path(name), embedder=embedder, readers=readers) as rig,
    ):
        yield rig


def is_sound(rig: Rig) -> None:
    """What holds after every verb."""
    assert rig.rows("SELECT id FROM claims WHERE state = 'asserted' AND NOT EXISTS (SELECT 1 FROM evidence e "
                    "WHERE e.claim_id = claims.id AND e.stance = 'supporting')") == []  # fmt: skip
    texts = "SELECT e.quote, e.start_at, e.end_at, m.text FROM evidence e JOIN memories m ON m.id = e.memory_id"
    assert all(text[start:end] == quote for quote, start, end, text in rig.rows(texts))
    # Nothing names a row that is not there, and nobody stands in two places.
    assert rig.rows("SELECT id FROM memories WHERE superseded_by_id = id OR consolidated_into = id") == []
    assert rig.rows("SELECT id FROM memories WHERE status = 'consolidated' AND consolidated_into IS NULL") == []
    assert rig.rows(
        "SELECT id FROM conflicts WHERE state = 'open' AND (resolution IS NOT NULL OR closed_at IS NOT NULL)"
    ) == []  # fmt: skip


def owner_stands(rig: Rig) -> None:
    """Nothing but the owner's word ends what the owner said: so its successor is the owner's too."""
    assert rig.rows(
        "SELECT m.id FROM memories m JOIN memories o ON o.id = m.superseded_by_id "
        "WHERE m.status = 'superseded' AND m.status_reason = 'replaced' AND m.source = 'user_explicit' "
        "AND m.client_id IS NULL AND m.import_id IS NULL AND NOT EXISTS "
        "(SELECT 1 FROM memory_sources s WHERE s.memory_id = o.id AND s.lineage = 'owner' "
        " AND s.source IN ('user_explicit', 'user_implicit')) "
        "AND NOT EXISTS (SELECT 1 FROM verdicts v WHERE v.memory_id = o.id AND v.voice = 'owner')"
    ) == []  # fmt: skip


@pytest.mark.slow
@QUICK
@given(calls=CALLS)
@example(calls=CLASH)
@example(calls=[("bring", 8, 7), ("bring", 0, 8)])
@example(calls=[("bring", 4, 7), ("bring", 15, 2), ("edit", 0, 2), ("forget", 22, 2), ("bring", 19, 4)])
@example(calls=[*CLASH, ("verdict", 3, 1), ("edit", 1, 5), ("resolve", 0, 3), ("undo", 0, 0), ("forget", 2, 0)])
def test_taking_all_of_it_back_leads_to_where_it_began(tmp_path: Path, calls: list[tuple[str, int, int]]) -> None:
    with fresh_rig(tmp_path) as rig:
        life = Life(rig)
        before = rig.dump()
        for verb, a, b in calls:
            life.do(verb, a, b)
            is_sound(rig)
            owner_stands(rig)
        while (step := newest_step(rig)) is not None:
            report = rig.undo(step)
            assert report.left == ()
        rig.settle()
        assert differences(before, rig.dump()) == {}
        assert rig.opened.search.index.status().done == rig.value("SELECT count(*) FROM embeddings") == 0
        assert rig.verify()["status"] == "ok"


@pytest.mark.slow
@QUICK
@given(calls=CALLS, verb=st.sampled_from(VERBS), a=st.integers(0, 23), b=st.integers(0, 11))
def test_one_verb_and_its_undo_leave_the_vault_as_it_was(
    tmp_path: Path, calls: list[tuple[str, int, int]], verb: str, a: int, b: int
) -> None:
    with fresh_rig(tmp_path) as rig:
        life = Life(rig)
        for call in calls:
            life.do(*call)
        rig.settle()
        before, steps = rig.dump(), int(rig.value("SELECT max(rowid) FROM undo_steps"))
        life.do(verb, a, b)
        taken = rig.rows("SELECT id FROM undo_steps WHERE rowid > ? AND undone_by IS NULL ORDER BY rowid DESC", steps)
        for (step,) in taken:
            assert rig.undo(str(step)).left == ()
        rig.settle()
        assert differences(before, rig.dump()) == {}
