"""Vaults in which a consolidation finds something for every phase, without a model: quick to make, the same each time.

Of nearness a stand-in decides (`WordEmbedder`: words in common), of relations another: texts that begin with one of two
words are one, or complete each other.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from belief_rig import claim
from engine_rig import Rig, Table, rig_at
from gathering_rig import told

from core.belief.relate.relation_model import certain_relation
from core.intake.claims import TextReaders
from core.intake.transaction.sources import claims_backed_by, refresh_claims
from core.types.belief import ComparedText, Label, Relation
from core.types.values import Kind

COMPLETES = "Beside"
"""Texts that begin with it are united."""
LATER = "Since then"
"""A text that begins with it replaces what is at odds with it."""
_THINGS = [
    "cents",
    "euros",
    "crowns",
    "pounds",
    "francs",
    "yen",
    "rupees",
    "pesos",
    "dinars",
    "krona",
    "zloty",
    "forint",
]
_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")


class WordReader:
    """Relates by the first word; what is the same but for case, rules know already."""

    def classify(self, pairs: Sequence[tuple[ComparedText, ComparedText]]) -> tuple[Relation, ...]:
        """One relation for each pair."""
        return tuple(self._one(first.text, second.text) for first, second in pairs)

    @staticmethod
    def _one(first: str, second: str) -> Relation:
        if ". " not in first + second and first.startswith(COMPLETES) and second.startswith(COMPLETES):
            return certain_relation(Label.MERGE, "completes")
        if second.startswith(LATER):
            return certain_relation(Label.SUPERSEDE, "later")
        same = first.casefold() == second.casefold()
        return certain_relation(Label.DUPLICATE if same else Label.COEXIST, "same_words" if same else "apart")


READERS = TextReaders(relate=WordReader())


def duplicates(rig: Rig, name: str, count: int = 3) -> None:
    """Several that say the same."""
    text = f"The {name} kiln of {name}house fires every {name}day at dawn"
    for form in (text, text.upper(), text.title(), text.swapcase())[:count]:
        told(rig, form, 5)


def completing(rig: Rig, name: str) -> None:
    """Two that become one text."""
    words = f"{name}gate {name}lock {name}hinge {name}post {name}rail"
    told(rig, f"{COMPLETES} the {words} stands a barrel", 6)
    told(rig, f"{COMPLETES} a barrel the {words} stands", 5)


def confirming(rig: Rig, name: str) -> None:
    """A fact, and a rule of the same words from somebody else."""
    text = f"The {name} ferry of {name}town leaves at nine on {name}days"
    told(rig, text, 5)
    told(rig, text.upper(), 4, kind=Kind.RULE)


def gathering(rig: Rig, name: str, count: int = 4) -> list[str]:
    """Details of one thing, which a digest takes up."""
    return [
        told(rig, f"The {name} desk {name}bank of {name}ville {name}street pays out in {one}", 60)
        for one in _THINGS[:count]
    ]


def opposing(rig: Rig, name: str, *, asks: bool = False) -> None:
    """Two facts that exclude one another; where the older is the owner's, a person is asked."""
    more = {"lineage": "owner"} if asks else {}
    older = told(rig, f"{name} keeps its wine in Graz.", 9, **more)
    claim(rig, older, "lives_in", "Graz", "Graz", subject=name)
    newer = told(rig, f"{LATER} Linz holds what {name} drinks.", 3)
    claim(rig, newer, "lives_in", "Linz", "Linz", subject=name, state="draft")
    if asks:
        said = {"source": "user_explicit"}
        rig.write(lambda tx: tx.update("memory_sources", {"memory_id": older, "lineage": "owner"}, said))
    rig.write(lambda tx: refresh_claims(tx, claims_backed_by(tx, [older, newer])))


def dying(rig: Rig, name: str) -> None:
    """What nobody looked at for years."""
    lost = told(rig, f"Umbrellas of {name} were lost in the {name}tram.", 3000)
    rig.write(lambda tx: tx.update("memories", {"id": lost}, {"permanence": "permanent"}))


MAKERS: Mapping[str, Callable[[Rig, str], Any]] = {
    "stack": duplicates, "merge": completing, "corroborate": confirming, "digest": gathering, "supersede": opposing,
    "ask": lambda rig, name: opposing(rig, name, asks=True), "archive": dying,
}  # fmt: skip
"""By the deed that a consolidation finds."""


def of_all_kinds(rig: Rig, seed: int = 0, most: int = 1, least: int = 1) -> None:
    """So many of each kind, in an order of their own.

    Args:
        seed: of the order and the numbers.
        most: of a kind, at most.
        least: of a kind, at least.
    """
    dice = random.Random(seed)
    wanted = [kind for kind in MAKERS for _ in range(dice.randint(least, most))]
    dice.shuffle(wanted)
    for nr, kind in enumerate(wanted):
        MAKERS[kind](rig, f"{kind}{''.join(chr(97 + int(digit)) for digit in f'{seed}{nr}')}")


def opened(folder: Path, **more: Any) -> Any:
    """An engine with the stand-ins; as `rig_at`."""
    return rig_at(folder, readers=READERS, **more)


def without_new_ids(dump: Mapping[str, Table], known: frozenset[str]) -> dict[str, Table]:
    """Rows of two runs of one vault become comparable: ids that a run made are random.

    Args:
        dump: of `Rig.dump`.
        known: ids of before the run.

    Returns:
        The rows; a new memory's id is its text, every other new id a dash.
    """
    named = {row[1]: f"<{row[2]}>" for row in _named(dump) if row[1] not in known}

    def plain(value: object) -> object:
        if isinstance(value, str):
            return _ID.sub(lambda found: found[0] if found[0] in known else named.get(found[0], "-"), value)
        return value

    return {
        table: sorted((tuple(plain(value) for value in row) for row in rows), key=repr) for table, rows in dump.items()
    }


def ids_in(dump: Mapping[str, Table]) -> frozenset[str]:
    """Every id that any row names."""
    return frozenset(
        one for rows in dump.values() for row in rows for value in row if isinstance(value, str)
        for one in _ID.findall(value)
    )  # fmt: skip


def _named(dump: Mapping[str, Table]) -> list[tuple[Any, ...]]:
    return [(row[0], row[1], next(one for one in row[2:] if isinstance(one, str) and " " in one))
            for row in dump["memories"]]  # fmt: skip
