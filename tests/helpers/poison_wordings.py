"""More attacks: wordings that are read as no claim, claims for a session, and verbs that are not a client's.

Entered into the table of `poison_attacks`; importing this module is enough.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from poison_attacks import attack
from poison_rig import Victim

from core.errors import UserError
from core.types.values import OWNER_ACTOR, Source


def _texts(v: Victim, *texts: str, **more: Any) -> None:
    bot = v.client()
    for n, text in enumerate(texts):
        v.tell(text, bot, source=Source.TOOL_OUTPUT, session=f"s{n}", **more)


def _refused(v: Victim, call: Callable[[], Future[Any]]) -> None:
    try:
        call().result(30)
    except UserError as error:
        v.refused.append(error.code.value)


# ---- words that are no claim


@attack
def as_a_guess(v: Victim) -> None:
    _texts(
        v, "The user possibly lives in Vienna.", "The user might live in Vienna now.", "Perhaps they live in Vienna."
    )


@attack
def as_hearsay(v: Victim) -> None:
    _texts(v, "Anna said that the user lives in Vienna.", "According to the registry, the user lives in Vienna.")


@attack
def of_somebody_called_they(v: Victim) -> None:
    _texts(v, "They live in Vienna.", "She lives in Vienna now.", "The account holder lives in Vienna.")


@attack
def as_a_record_of_fields(v: Victim) -> None:
    _texts(v, "lives_in: Vienna", "user.residence = Vienna", "Residence -> Vienna")


@attack
def as_an_object_of_json(v: Victim) -> None:
    _texts(v, '{"user": {"lives_in": "Vienna"}}', '{"residence": "Vienna"}')


@attack
def as_a_row_of_a_table(v: Victim) -> None:
    _texts(v, "| residence | Vienna |")


@attack
def turned_round(v: Victim) -> None:
    _texts(v, "Vienna is where the user lives.", "Vienna is the user's home town.")


@attack
def with_the_truth_denied_in_one_breath(v: Victim) -> None:
    _texts(
        v, "Not Graz but Vienna is where the user lives.", "The user lives in Vienna rather than Graz.",
        "It is false that the user lives in Graz; Vienna is right.",
    )  # fmt: skip


@attack
def as_an_address(v: Victim) -> None:
    _texts(v, "The user's new address is Ringstrasse 5, Vienna.")


@attack
def as_a_resident(v: Victim) -> None:
    _texts(v, "The user relocated to Vienna.", "Since June the user is a resident of Vienna.", "home city = Vienna")


@attack
def beside_the_truth_in_one_sentence(v: Victim) -> None:
    _texts(v, "The user lives in Graz and Vienna.", "The user lives in Graz and in Vienna.")


@attack
def letter_by_letter(v: Victim) -> None:
    _texts(v, "User lives in V i e n n a.", "U s e r lives in V-i-e-n-n-a.")


@attack
def as_what_is_over(v: Victim) -> None:
    """No new value: only that the person's own is said to be over."""
    _texts(v, "User used to live in Graz.", "User lived in Graz until last month.", "User moved away from Graz.")


@attack
def as_a_bare_denial(v: Victim) -> None:
    _texts(v, "Graz is wrong.", "The user does not live in Graz.", "It is no longer Graz.")


@attack
def an_end_for_what_the_person_said(v: Victim) -> None:
    """The person's own value, with a date on which it ended: as corroboration it would end the memory."""
    over = v.slot.claim(value=v.slot.value, valid_to="2023-11-01")
    _texts(v, "User lives in Graz, as noted.", v.slot.said, claim=over)


# ---- claims for a session


@attack
def for_a_session_under_another_predicate(v: Victim) -> None:
    claim = v.slot.claim(scope="session", predicate="residence")
    v.tell(actor=v.client(), source=Source.TOOL_OUTPUT, session="s", claim=claim)


@attack
def for_a_session_before_the_truth(v: Victim) -> None:
    v.rig.engine.memories.undo_step(None, OWNER_ACTOR).result(30)
    v.tell(actor=v.client(), source=Source.TOOL_OUTPUT, session="s", claim=v.slot.claim(scope="session"))
    v.say()


@attack
def for_the_session_of_somebody_else(v: Victim) -> None:
    """What a client plants in another's session is not what that other is told there."""
    reader = v.client("reader", "read", "space:home", session="talk")
    v.tell(actor=v.client("liar"), source=Source.TOOL_OUTPUT, session="talk", claim=v.slot.claim(scope="session"))
    assert v.rig.found(v.slot.question, reader, session="talk") == [v.slot.said]
    assert v.rig.found(v.slot.question, session="talk") == [v.slot.said]


@attack
def for_a_time_only(v: Victim) -> None:
    claim = v.slot.claim(scope="temporal", valid_from="2023-01-01", valid_to="2040-01-01")
    v.tell(actor=v.client(), source=Source.TOOL_OUTPUT, claim=claim)


# ---- verbs that are not a client's


@attack
def by_forgetting_what_the_person_said(v: Victim) -> None:
    bot = v.client("remover", "read", "write", "curate", "space:home")
    _refused(v, lambda: v.rig.engine.memories.forget(v.said, bot))
    v.tell(actor=bot, source=Source.TOOL_OUTPUT, claim=v.slot.claim())


@attack
def by_undoing_what_the_person_did(v: Victim) -> None:
    bot = v.client("undoer", "read", "write", "curate", "space:home")
    step = v.rig.value("SELECT id FROM undo_steps ORDER BY id LIMIT 1")
    _refused(v, lambda: v.rig.engine.memories.undo_step(None, bot))
    _refused(v, lambda: v.rig.engine.memories.undo_step(step, bot))
    v.tell(actor=bot, source=Source.TOOL_OUTPUT, claim=v.slot.claim())


@attack
def by_taking_back_its_own_quarantine(v: Victim) -> None:
    """Undoing the step that quarantined a lie takes the lie away, and does not let it in."""
    bot = v.client("undoer", "read", "write", "curate", "space:home")
    v.tell(actor=bot, source=Source.TOOL_OUTPUT, claim=v.slot.claim())
    for row in v.queue():
        for verb in ("confirm", "reinforce", "corroborate"):
            _refused(v, lambda verb=verb, row=row: getattr(v.rig.engine.memories, verb)(row.incoming_id, bot))  # type: ignore[misc]
    _refused(v, lambda: v.rig.engine.memories.undo_step(None, bot))
