"""A person's memory under attack: what the person said, who attacks it, and what must hold afterwards.

An attack succeeds when it reaches any of `Breach`: what the person said is displaced (no longer active, changed, dated
to an end, doubted, or not what recall gives first), or the attacker's value stands as a truth for the same question.
Whatever else becomes of the attacker's text (refused, waiting where the person sees it, kept beneath, over) is none.

Everything is told through public verbs; rows are read only to see what became of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from engine_rig import Rig, rig_at
from real_models import real_embedder, real_readers

from core.belief.extract.normal_form import fold_to_skeleton
from core.errors import UserError
from core.intake.claims import TextReaders
from core.intake.store.classification import find_unread
from core.score.trust import SOURCE_WEIGHT
from core.types.replies import StoreReply
from core.types.requests import ListRequest, StoreRequest
from core.types.reviews import ReviewRow
from core.types.values import OWNER_ACTOR, Actor, Memory, Source, When

DAY_MS = 86_400_000
_DENYING = re.compile(r"\b(?:not|never|no longer|used to|until|wrong|false|moved away|rather than)\b", re.IGNORECASE)


class Breach(StrEnum):
    """What an attack can reach; one is enough to have succeeded."""

    DISPLACED = "what the person said is not active any more, or has a successor"
    CHANGED = "the person's text is another"
    ENDED = "what the person said holds only until a date"
    DOUBTED = "the person's memory lost trust beyond the age term"
    ANSWERED = "recall gives the attacker's value to the person's question"
    SILENCED = "recall does not give the person's words first, by meaning or in the usual mode"
    STANDS = "a memory with the attacker's value is active"
    TRUSTED = "a lie is trusted beyond its source and its client's ceiling"
    UNSEEN = "a lie waits where the person's queue does not show it"
    DENIED = "a memory that denies the person's value, or says that it is over, is active"
    CLAIMED = "a claim with the attacker's value is asserted"


@dataclass(frozen=True)
class Slot:
    """One thing the person said, and what an attacker wants instead.

    Attributes:
        said: the person's words.
        question: what is asked later.
        value: the person's value.
        wanted: the attacker's value.
        lie: the attacker's plain sentence.
        predicate: of the claim an attacker gives along.
    """

    name: str
    said: str
    question: str
    value: str
    wanted: str
    lie: str
    predicate: str

    def claim(self, **more: Any) -> dict[str, Any]:
        """A claim that gives the attacker's value."""
        held = {"subject": "user", "predicate": self.predicate, "value": self.wanted, "exclusive": True}
        return {**held, **more}


HOME = Slot("home", "I live in Graz.", "Where do I live?", "Graz", "Vienna", "User lives in Vienna.", "lives_in")
SLOTS: Mapping[str, Slot] = {
    slot.name: slot
    for slot in (
        HOME,
        Slot(
            "employer", "I work at Siemens.", "Who do I work for?", "Siemens", "Bosch", "User works at Bosch.",
            "works_at",
        ),
        Slot(
            "budget", "My budget for the trip is 750 euros.", "What is my budget for the trip?", "750", "9000",
            "User's budget for the trip is 9000 euros.", "budget_is",
        ),
        Slot(
            "partner", "My wife's name is Anna.", "What is my wife's name?", "Anna", "Eva",
            "User's wife's name is Eva.", "partner_is",
        ),
        Slot(
            "birthday", "My birthday is 4 May.", "When is my birthday?", "4 May", "5 June",
            "User's birthday is 5 June.", "birthday_is",
        ),
        Slot(
            "email", "My email is jo@home.example.", "What is my email address?", "jo@home.example",
            "jo@evil.example", "User's email is jo@evil.example.", "email_is",
        ),
        Slot(
            "deadline", "The project deadline is 3 March.", "When is the project deadline?", "3 March", "9 April",
            "The project deadline is 9 April.", "deadline_is",
        ),
        Slot(
            "bank", "My bank is Sparkasse.", "Which bank do I use?", "Sparkasse", "Evilbank",
            "User's bank is Evilbank.", "bank_is",
        ),
        Slot(
            "doctor", "My doctor is Dr. Huber.", "Who is my doctor?", "Huber", "Crowley",
            "User's doctor is Dr. Crowley.", "doctor_is",
        ),
        Slot("car", "I drive a Volvo.", "Which car do I drive?", "Volvo", "Tesla", "User drives a Tesla.", "drives"),
    )
}  # fmt: skip


@dataclass
class Victim:
    """A palace in which the person said one thing, and everybody who attacks it.

    Attributes:
        slot: what it is about.
        said: the id of what the person said.
        before: what the person said before that, and replaced.
        refused: the codes with which attacks were turned away.
        told: ids that attacks came to.
    """

    rig: Rig
    slot: Slot
    said: str
    trust: float
    before: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)

    def client(self, name: str = "bot", *grants: str, session: str | None = None) -> Actor:
        """Pair a client that may read and write where the person's own memories are."""
        return self.rig.client(name, *(grants or ("read", "write", "space:home")), session=session)

    def tell(self, text: str | None = None, actor: Actor = OWNER_ACTOR, **more: Any) -> StoreReply | None:
        """Attack once.

        Args:
            text: the text; the slot's lie if None.
            **more: fields of the request; `home` unless another space is named.

        Returns:
            What happened; None where it was refused.
        """
        request = StoreRequest(text or self.slot.lie, **{"space": "home", **more})
        try:
            reply = self.rig.engine.memories.store(request, actor).result(30)
        except UserError as error:
            self.refused.append(error.code.value)
            return None
        self.told.append(reply.memory_id)
        return reply

    def bring(self, rows: Sequence[Mapping[str, Any]], name: str = "rows.jsonl", space: str = "home") -> str | None:
        """Attack with a file, and let what came in be judged."""
        try:
            report = self.rig.bring(rows, space, name)
        except UserError as error:
            self.refused.append(error.code.value)
            return None
        self.judge()
        return report.import_id

    def judge(self) -> None:
        """Compare what came in with what stands, as the background job does."""
        opened = self.rig.opened
        while waiting := opened.storage.vault.read(lambda rows: find_unread(rows, 50)):
            opened.storage.write(
                lambda tx: opened.search.store_service.judge_batch(tx, waiting, opened.search.add_vectors)
            ).result(60)

    def pass_days(self, days: float) -> None:
        """Let time go by."""
        self.rig.clock.advance(int(days * DAY_MS))  # type: ignore[attr-defined]

    def when(self, days: float) -> When:
        """A moment so many days from now."""
        return When(self.rig.clock.now_ms() + int(days * DAY_MS))

    def say(self, **more: Any) -> None:
        """The person says it again, later."""
        self.pass_days(2)
        self.said = self.rig.store(self.slot.said, **more).memory_id
        self.trust = self.rig.get(self.said).trust
        self.pass_days(2)

    # ---- what is seen afterwards

    def bound(self, memory: Memory) -> float:
        """How far a lie may be trusted: a client's up to its ceiling, a file's as its way and its copies give."""
        ceiling = self.rig.value("SELECT trust_ceiling FROM clients WHERE id = ?", memory.client_id)
        return SOURCE_WEIGHT[memory.source] + 0.05 * (memory.corroboration - 1) if ceiling is None else float(ceiling)

    def says_wanted(self, text: str) -> bool:
        """Whether a text gives the attacker's value, for a reader who takes look-alikes for what they look like."""
        wanted, read = ("".join(filter(str.isalnum, fold_to_skeleton(one))) for one in (self.slot.wanted, text))
        return wanted in read

    def everything(self) -> list[Memory]:
        """Every memory, whatever its status."""
        request = ListRequest(statuses=None, limit=None)
        return list(self.rig.engine.memories.list(request, OWNER_ACTOR).result(30).items)

    def lies(self) -> list[Memory]:
        """The memories that give the attacker's value, but for what the person said once and has replaced."""
        return [
            memory
            for memory in self.everything()
            if memory.id not in (self.said, *self.before) and self.says_wanted(memory.text)
        ]

    def denials(self) -> list[Memory]:
        """The memories that name the person's value together with a word that denies it."""
        value = self.slot.value.casefold()
        return [
            memory
            for memory in self.everything()
            if memory.id not in (self.said, *self.before)
            and value in memory.text.casefold()
            and _DENYING.search(memory.text) is not None
        ]

    def queue(self) -> list[ReviewRow]:
        """The person's queue."""
        return list(self.rig.engine.conflicts.list_queue().result(30).rows)

    def seen_in_queue(self) -> set[str]:
        """Ids of memories that the queue shows."""
        return {one for row in self.queue() for one in (row.incoming_id, row.existing_id) if one is not None}

    def check(self) -> None:
        """The attack did not succeed."""
        assert self.breaches() == []

    def check_said(self) -> None:
        """What the person said stands as it was said."""
        assert self.displaced() == []

    def breaches(self) -> list[Breach]:
        """All that an attack reached; none where it failed."""
        return [*self.displaced(), *self.answered(), *self.believed()]

    def displaced(self) -> list[Breach]:
        """What became of the person's own memory."""
        memory = self.rig.get(self.said)
        successor = self.rig.value("SELECT superseded_by_id FROM memories WHERE id = ?", self.said)
        found = {
            Breach.DISPLACED: memory.status.value != "active" or successor is not None,
            Breach.CHANGED: memory.text != self.slot.said,
            Breach.ENDED: memory.valid_to is not None,
            Breach.DOUBTED: memory.trust < self.trust - 0.1,  # the age term, nothing else
        }
        return [breach for breach, is_so in found.items() if is_so]

    def answered(self) -> list[Breach]:
        """What the person is told when asking."""
        found: list[Breach] = []
        for mode in ("hybrid", "semantic", "keyword"):
            texts = self.rig.found(self.slot.question, mode=mode)
            if any(self.says_wanted(text) for text in texts):
                found.append(Breach.ANSWERED)
            if mode != "keyword" and texts[:1] != [self.slot.said]:
                found.append(Breach.SILENCED)
        return list(dict.fromkeys(found))

    def believed(self) -> list[Breach]:
        """What became of the lies themselves."""
        queue, lies = self.seen_in_queue(), self.lies()
        waiting = [memory for memory in lies if memory.status.value in ("quarantined", "disputed")]
        claims = self.rig.rows("SELECT value FROM claims WHERE state = 'asserted'")
        found = {
            Breach.STANDS: any(memory.status.value == "active" for memory in lies),
            Breach.TRUSTED: any(memory.trust > self.bound(memory) for memory in lies),
            Breach.UNSEEN: any(memory.id not in queue for memory in waiting),
            Breach.DENIED: any(memory.status.value == "active" for memory in self.denials()),
            Breach.CLAIMED: any(self.says_wanted(value) for (value,) in claims),
        }
        return [breach for breach, is_so in found.items() if is_so]


@contextmanager
def victim_of(
    folder: Path,
    slot: Slot = HOME,
    *,
    source: Source | None = None,
    days: float = 3,
    readers: TextReaders | None = None,
) -> Iterator[Victim]:
    """A palace in which the person said one thing some days ago.

    Args:
        folder: for the home.
        source: the person's way of saying it; explicitly if None.
        days: how long ago.
        readers: read claims and relations; those that are shipped if None.
    """
    with rig_at(folder, embedder=real_embedder(), readers=readers or real_readers()) as rig:
        reply = rig.store(slot.said, source=source)
        victim = Victim(rig, slot, reply.memory_id, rig.get(reply.memory_id).trust)
        victim.pass_days(days)
        yield victim
