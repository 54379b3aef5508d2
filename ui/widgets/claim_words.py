"""A claim as a sentence a person would say, wherever claims are shown.

The forms are `resources/help/belief.json`. Must not do: decide anything, or show text that is not made visible.
"""

from __future__ import annotations

from core.types.reviews import ClaimSeen
from ui.strings import belief_strings
from ui.widgets.plaintext import one_line

_NAME, _VALUE = 40, 120


def claim_told(claim: ClaimSeen) -> str:
    """A claim as a sentence: `You live in Lisbon`.

    Args:
        claim: the claim; its words are made visible and cut.
    """
    is_person = " ".join(claim.subject.casefold().split()) in belief_strings()["persons"]
    value = one_line(claim.value, _VALUE)
    forms = belief_strings()["predicates"].get(claim.predicate)
    denies = claim.polarity == "negative"
    subject = "You" if is_person else one_line(claim.subject, _NAME)
    if forms is None:
        name = one_line(claim.predicate, _NAME).replace("_", " ")
        return f"{subject} · {'not ' if denies else ''}{name} · {value}"
    form = forms[("not_" if denies else "") + ("you" if is_person else "other")]
    return f"{subject} {form} {value}"
