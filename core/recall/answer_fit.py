"""How well a candidate fits the question: whose it is, what kind of value it gives, what was said last, of whom it is.

Evidence counts words and meaning, and both are as near for "my mum lives in Aalst" as for the speaker's own home, for
"my mother loves the garden" as for where she is. Of stated facts only the strongest are looked at; none is left out.

Whom a question names counts likewise: words and meaning alone find whoever speaks most of a shelter first, though it
names somebody else. A memory is a stranger's where it neither names them nor was said by them nor tells of them, and
its conversation, or its whole space, has nothing of them either: beside them others may well answer.

Where a question asks for one property of the speaker's and for nothing else, what has a claim of it answers, in
whatever words: "how old am I?" and "Forty-seven, feel like seventy" have none in common. Of other questions a model
that has read both says how well the strongest facts answer: "what exercise do I take?" and "Thursdays I row".

Must not do: bring a candidate, move a message, or put a newer word of less weight before an older one.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from core.recall.candidates import Candidates
from core.recall.request import RecallRequest, name_runs
from core.recall.vectors import Floats
from core.text.question_form import (
    QuestionForm,
    gives_value,
    has_other_number,
    has_other_subject,
    is_guess,
    is_thing_of_other,
    read_question_form,
    speaks_of_other,
)
from core.types.recall import QueryPlan
from core.types.values import GLOBAL_SPACE, Kind
from core.vault.database.rows import Rows

LOOKED_AT = 24
"""So many of the strongest facts are read: what is weaker stands far behind them."""
OF_OTHER = 0.3
"""Our choice: what is left of the evidence of a text about somebody else, where the speaker asks about themselves."""
OTHER_VALUE = 0.7
"""Our choice: what is left where a text gives no value of the kind that is asked for."""
OF_CHAIN = 0.5
"""Our choice: what is left where it is about somebody else by its words, and took the place of what fits."""
NEAR, NEAR_CHANGE = 0.85, 0.7
"""Our choice: from this share of the first one's evidence a later word about the same thing is the one that holds; and
from this one where it gives a value of the kind that is asked for, and says that it is otherwise than before."""
NEAR_NOTED, LIKELY = 0.5, 0.6
"""Our choice: from this share of the first one's evidence, and when noted as this likely, what may have taken its place
comes before it."""
NEAR_SURELY_NOTED, SURELY = 0.03, 0.9
"""Likewise, chosen on `tests/bench/heldout`: what was noted as this likely need hardly be near the question's words."""
LESS_LIKELY_ANSWER = 5.0
"""Our choice: log odds by which what is noted as less likely may answer worse than the first one."""
_RIVALS = 5

WeighAnswers = Callable[[str, Sequence[str]], Sequence[float]]
"""Gives, for a question and some texts, the log odds that each answers, over those from which one surely does."""
WEIGHED = 6
"""Our choice: so many of the strongest facts are weighed as answers, each at the cost of a pair of texts."""
ODDS_WORTH, LEAST_LEFT = 0.15, 0.5
"""Chosen on persons whose questions taught nothing: what is left of the evidence falls by this power of e for each log
odds less than the best one's, to this share at least."""
OF_EARLIER = 1.0
"""Our choice: log odds that what took the place of an answer has less than that would have."""
_EARLIER_WEIGHED = 2

CLAIMED = 0.6
"""Our choice: the share of the greatest evidence that a claim of the property asked for makes by itself."""
_APART = 0.01
"""Our choice: how much less each further claim makes than the one before it, so that their order is kept."""

OF_STRANGERS = 0.75
"""Our choice: what is left of the evidence of what was said where nobody knows whom the question names."""
_MOST_NAMED = 64
# People and pets: a place or a tool that is named says what is asked, and words find it.
_NAMED = (
    "SELECT DISTINCT e.id, coalesce(e.merged_into_id, e.id), e.name, e.space_id FROM entity_aliases h "
    "JOIN entities e ON e.id = h.entity_id WHERE h.alias_key IN (SELECT value FROM json_each(:keys)) "
    "AND (e.type = 'person' OR e.extra ->> '$.form' = 'pet') AND (:seen IS NULL OR e.space_id = 'GLOBAL' "
    "OR e.space_id IN (SELECT value FROM json_each(:seen))) LIMIT :most"
)
_ONE_OF_THEM = "x.entity_id IN (SELECT value FROM json_each(:ids))"
_STRANGE = (
    f"SELECT m.n, m.conversation_id, EXISTS (SELECT 1 FROM mentions x WHERE x.memory_id = m.id AND {_ONE_OF_THEM}) "  # noqa: S608 - constants
    "OR EXISTS (SELECT 1 FROM statements s WHERE s.memory_id = m.id "
    "AND s.about COLLATE NOCASE IN (SELECT value FROM json_each(:names))), "
    "m.space_id IN (SELECT value FROM json_each(:spaces)) FROM json_each(:here) w JOIN memories m ON m.n = w.value"
)
_TALKS = (
    "SELECT w.value FROM json_each(:talks) w WHERE EXISTS (SELECT 1 FROM memories t JOIN mentions x "  # noqa: S608 - constants
    f"ON x.memory_id = t.id WHERE t.conversation_id = w.value AND t.security_tier = 'cleartext' AND {_ONE_OF_THEM})"
)
_NOTED = (
    "SELECT incoming_id, max(confidence) FROM conflicts WHERE existing_id = ? AND confidence >= ? "
    "AND kind = 'classification' AND suggestion = 'supersede' AND state IN ('open', 'moot') GROUP BY incoming_id"
)
_EARLIER = (
    "SELECT h.n, o.text FROM json_each(:over) w JOIN memories o ON o.n = w.value "
    "JOIN memories h ON h.chain_id = o.chain_id AND h.n <> o.n WHERE h.n IN (SELECT value FROM json_each(:here))"
)
_TEXTS = "SELECT n, text FROM memories WHERE n IN (SELECT value FROM json_each(?))"


def apply_answer_fit(
    rows: Rows, query: str, plan: QueryPlan, found: Candidates, weigh: WeighAnswers | None = None
) -> Candidates:
    """Lower the evidence of facts that do not fit the form of the question, or answer it less than others do.

    Args:
        query: the question as typed.
        plan: how it was understood.
        weigh: how well texts answer; None where that is not asked.

    Returns:
        The candidates; unchanged where the form tells nothing or no fact is among them.
    """
    form = read_question_form(query)
    strongest = _find_strongest_facts(found)
    if not strongest or plan.period:
        return found
    labels = found.labels[np.array(strongest, np.int64)].tolist()
    texts = {int(label): str(text) for label, text in rows.all(_TEXTS, (json.dumps(labels),))}
    read = {at: texts.get(int(found.labels[at]), "") for at in strongest}
    fit = np.ones(found.labels.size)
    earlier = _read_earlier_versions(rows, found, read)
    for at, text in read.items():
        fit[at] = _fit_of(text, earlier.get(at, ()), form)
    fitted = replace(found, fit=found.fit * fit, evidence=fit * found.evidence)
    if weigh is not None:
        fitted = _apply_answer_odds(query, fitted, read, earlier, weigh)
    return _put_later_word_first(rows, fitted, read, form) if form.is_of_present and plan.time is None else fitted


def _apply_answer_odds(
    query: str, found: Candidates, read: Mapping[int, str], earlier: Mapping[int, Sequence[str]], weigh: WeighAnswers
) -> Candidates:
    """Lower the evidence of the strongest facts by how much less than the best of them they answer."""
    order = sorted(read, key=lambda at: (-float(found.evidence[at]), at))[:WEIGHED]
    texts = [(at, read[at], 0.0) for at in order]
    # "It goes up to 23 in May" tells of what no word names: the version before it does.
    texts += [(at, text, OF_EARLIER) for at in order for text in earlier.get(at, ())[:_EARLIER_WEIGHED]]
    odds = dict.fromkeys(order, -math.inf)
    for (at, _, less), each in zip(texts, weigh(query, [text for _, text, _ in texts]), strict=True):
        odds[at] = max(odds[at], each - less)
    best, answers = max(odds.values(), default=0.0), found.answers.copy()
    left = {at: max(LEAST_LEFT, math.exp(ODDS_WORTH * (each - best))) for at, each in odds.items()}
    least, fit = min(left.values(), default=1.0), np.ones(found.labels.size)
    for at in read:
        fit[at] = left.get(at, least)  # what was not weighed does not pass what was
        answers[at] = odds.get(at, math.nan)
    return replace(found, fit=found.fit * fit, evidence=found.evidence * fit, answers=answers)


def put_claims_first(found: Candidates, strongest: float) -> Candidates:
    """Raise what has a claim of the property asked for, where the first of all has none and is no surer than it.

    Args:
        strongest: the greatest evidence there can be.

    Returns:
        The candidates, of which those that were raised alone are marked. Other facts come behind, as what gives no
        value of the kind that is asked for.
    """
    claims = found.claims & found.ok
    may = np.flatnonzero(found.ok)
    if claims.any():
        first = int(may[np.argmax(found.evidence[may])])
        claims &= bool(claims[first]) | (found.sides[:, 1] >= found.sides[first, 1])
    found = replace(found, claims=claims)
    if not claims.any():
        return found
    is_fact = np.array([fact.duplicate_key[1] == Kind.FACT.value for fact in found.facts], np.bool_)
    lower = np.where(is_fact & ~claims, OTHER_VALUE, 1.0)
    evidence = found.evidence * lower
    least = max(CLAIMED * strongest, float(evidence.max()))
    # The nearest to the question first, and of equal ones the newest.
    order = sorted(np.flatnonzero(claims).tolist(), key=lambda at: (-found.evidence[at], -found.sides[at, 0]))
    for place, at in enumerate(order):
        evidence[at] = max(float(evidence[at]), least * (1 - _APART) ** place)
    return replace(found, fit=found.fit * lower, evidence=evidence)


def _find_strongest_facts(found: Candidates) -> list[int]:
    """Places of the strongest facts that may be returned."""
    facts = [at for at, fact in enumerate(found.facts) if found.ok[at] and fact.duplicate_key[1] == Kind.FACT.value]
    return sorted(facts, key=lambda at: (-float(found.evidence[at]), at))[:LOOKED_AT]


def _read_earlier_versions(rows: Rows, found: Candidates, read: Mapping[int, str]) -> dict[int, list[str]]:
    """What those that took the place of another candidate say together with all that they took the place of."""
    over = [int(label) for label in found.labels[found.lends]]
    if not over:
        return {}
    place = {int(found.labels[at]): at for at in read}
    versions: dict[int, list[str]] = {}
    for label, text in rows.all(_EARLIER, {"over": json.dumps(over), "here": json.dumps(list(place))}):
        versions.setdefault(place[int(label)], []).append(str(text))
    return versions


def _fit_of(text: str, earlier: Sequence[str], form: QuestionForm) -> float:
    """What is left of the evidence of a text.

    Args:
        earlier: what it took the place of: it tells of the same, whoever its sentence names.
    """
    fit = max([_fit_of_subject(text, form), *(OF_CHAIN * _fit_of_subject(each, form) for each in earlier)])
    return fit if form.value is None or gives_value(text, form.value) else fit * OTHER_VALUE


def _fit_of_subject(text: str, form: QuestionForm) -> float:
    fit = OF_OTHER if speaks_of_other(text, form) else OTHER_VALUE if is_thing_of_other(text, form) else 1.0
    return OTHER_VALUE * fit if has_other_number(text, form) else fit


def _put_later_word_first(rows: Rows, found: Candidates, read: dict[int, str], form: QuestionForm) -> Candidates:
    """Where a later word about the same thing comes near the first, the first comes behind it."""
    order = sorted(read, key=lambda at: (-float(found.evidence[at]), at))
    first, rivals = order[0], order[1 : 1 + _RIVALS]
    announced = _find_announced_value(found, read, form, order)
    if announced is not None:
        return _put_in_place_of(found, first, announced)
    noted = _find_noted_successor(rows, found, read, form, order)
    if noted is not None:
        return _put_in_place_of(found, first, noted)
    least = NEAR_CHANGE * float(found.evidence[first])
    firm = _find_firm_rival(found, read, form, order[: 1 + _RIVALS], least)
    if firm is not None:
        return _put_behind(found, first, firm)
    later = [at for at in rivals if found.evidence[at] >= least and _may_follow(found, first, at)]
    if not later:
        return found
    # Loaded where two facts come near each other: most answers hold none.
    from core.belief.relate.supersession import may_update, read_supersession_text

    for at in later:
        is_of_kind = form.value is not None and all(gives_value(read[one], form.value) for one in (first, at))
        is_near = found.evidence[at] >= NEAR * found.evidence[first] or (
            is_of_kind and read_supersession_text(read[at]).changes
        )
        if (
            is_near
            and not has_other_subject(read[at], form)
            and may_update(read[first], read[at], is_of_kind=is_of_kind)
        ):
            return _put_behind(found, first, at)
    return found


def _find_firm_rival(
    found: Candidates, read: dict[int, str], form: QuestionForm, order: list[int], least: float
) -> int | None:
    """What is so, near a first one that only may be, and that speaks of the same; None where that is asked for."""
    first, rivals = order[0], [at for at in order[1:] if found.evidence[at] >= least]
    if not rivals or form.asks_for_guess or not is_guess(read[first]):
        return None
    from core.belief.relate.supersession import read_supersession_text

    guess = read_supersession_text(read[first])
    if not guess.is_tentative:
        return None  # "on 4 May" is a day
    firm = ((at, read_supersession_text(read[at])) for at in rivals)
    return next((at for at, one in firm if not one.is_tentative and guess.topic & one.topic), None)


def _find_announced_value(found: Candidates, read: dict[int, str], form: QuestionForm, order: list[int]) -> int | None:
    """The newest of those that say what the value of the first one is to be, however they fit the question."""
    following = [at for at in order[1:] if _may_follow(found, order[0], at)]
    if not following:
        return None
    # Loaded where a text may be one: nothing follows what is alone.
    from core.belief.relate.announced_value import announces_value, announces_value_of

    later = [at for at in following if announces_value(read[at])]
    later.sort(key=lambda at: -float(found.sides[at, 0]))
    return next((at for at in later if announces_value_of(read[order[0]], read[at], form.words)), None)


def _find_noted_successor(
    rows: Rows, found: Candidates, read: dict[int, str], form: QuestionForm, order: list[int]
) -> int | None:
    """The newest of those that were noted as what likely took the place of the first one, where it answers as well."""
    first, following = order[0], [at for at in order[1:] if _may_follow(found, order[0], at)]
    noted = {str(one): likely for one, likely in rows.all(_NOTED, (found.facts[first].id, LIKELY))} if following else {}
    fitting = [
        at
        for at in following
        if found.facts[at].id in noted
        and _may_come_first(found, first, at, noted[found.facts[at].id])
        and not has_other_subject(read[at], form)
        and _answers_as_well(read[first], read[at], form)
    ]
    return max(fitting, key=lambda at: float(found.sides[at, 0]), default=None)


def _may_come_first(found: Candidates, first: int, at: int, likely: float) -> bool:
    """Whether what was noted as the end of the first one, this likely, is near enough to the question."""
    if likely >= SURELY:
        return bool(found.evidence[at] >= NEAR_SURELY_NOTED * found.evidence[first])
    least = found.answers[first] - LESS_LIKELY_ANSWER  # no number where no model weighs answers
    answers_as_well = math.isnan(least) or found.answers[at] >= least
    return bool(answers_as_well and found.evidence[at] >= NEAR_NOTED * found.evidence[first])


def _answers_as_well(first: str, later: str, form: QuestionForm) -> bool:
    """Whether a later text gives a value of the kind that is asked for, where the first does, or says there is none."""
    if form.value is None or gives_value(later, form.value) or not gives_value(first, form.value):
        return True
    from core.belief.relate.supersession import read_supersession_text

    return read_supersession_text(later).is_negated


def _put_in_place_of(found: Candidates, first: int, later: int) -> Candidates:
    """One candidate with the evidence of another, which comes right behind it."""
    fit, evidence = found.fit.copy(), found.evidence.copy()
    fit[later] *= float(found.evidence[first]) / float(found.evidence[later])
    evidence[later] = found.evidence[first]
    fit[first] *= NEAR
    evidence[first] *= NEAR
    return replace(found, fit=fit, evidence=evidence, answers=_hand_on_odds(found, first, later))


def _put_behind(found: Candidates, first: int, later: int) -> Candidates:
    """One candidate with less evidence than another, and scores to match."""
    share = NEAR * float(found.evidence[later]) / float(found.evidence[first])
    fit, evidence = found.fit.copy(), found.evidence.copy()
    fit[first] *= share
    evidence[first] *= share
    return replace(found, fit=fit, evidence=evidence, answers=_hand_on_odds(found, first, later))


def _hand_on_odds(found: Candidates, first: int, later: int) -> Floats:
    """Answer odds where a later word takes the place of another: it answers as well, and the other no more."""
    answers = found.answers.copy()
    answers[later] = np.fmax(answers[first], answers[later])
    answers[first] = np.nan
    return answers


def _may_follow(found: Candidates, earlier: int, later: int) -> bool:
    """Whether one was told after the other, by somebody whose word counts as much."""
    before, after = found.facts[earlier], found.facts[later]
    is_same_voice = before.client_id == after.client_id
    is_later = bool(found.sides[later, 0] > found.sides[earlier, 0])
    return is_same_voice and is_later and bool(found.sides[later, 1] >= found.sides[earlier, 1])


def weigh_asked_names(rows: Rows, request: RecallRequest, found: Candidates) -> Candidates:
    """Lower the evidence of what was said where nobody knows whom the question names.

    Returns:
        The candidates; unchanged where it names nobody, or where nothing among them is of those it names.
    """
    seen = None if request.scope.unrestricted else json.dumps(sorted(request.scope.space_ids))
    keys = json.dumps(sorted(name_runs(request.query)))
    named = rows.all(_NAMED, {"keys": keys, "seen": seen, "most": _MOST_NAMED})
    if not named:
        return found
    spaces = {str(space) for *_, space in named}
    params = {
        "here": json.dumps(found.labels.tolist()),
        "ids": json.dumps(sorted({str(one) for row in named for one in row[:2]})),
        "names": json.dumps(sorted({str(row[2]) for row in named})),
        "spaces": json.dumps(sorted(spaces)),
    }
    looked = rows.all(_STRANGE, params)
    if not any(is_theirs for _, _, is_theirs, _ in looked):
        return found
    talks = json.dumps(sorted({str(talk) for _, talk, is_theirs, _ in looked if talk is not None and not is_theirs}))
    known = {str(talk) for (talk,) in rows.all(_TALKS, {"talks": talks, "ids": params["ids"]})}
    strange = [
        int(n)
        for n, talk, is_theirs, is_near in looked
        if not is_theirs and (not (is_near or GLOBAL_SPACE in spaces) if talk is None else str(talk) not in known)
    ]
    fit = np.where(np.isin(found.labels, np.array(strange, np.int64)), OF_STRANGERS, 1.0)
    return replace(found, fit=found.fit * fit, evidence=found.evidence * fit)
