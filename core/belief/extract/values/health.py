"""What is claimed, continued: medicines, illnesses, and what somebody studies."""

from __future__ import annotations

import re
from collections.abc import Mapping

from core.belief.extract.phrases import Run, clean_run, head_of, noun_run, split_runs
from core.belief.extract.tokens import TokenizedSentence
from core.belief.extract.values.common import Reader, language
from core.belief.extract.vocabulary import word_lists

_DOSE = re.compile(r"\d+(?:[.,]\d+)*(?:mg|mcg|µg|g|ml|iu)?$")


def _low(sentence: TokenizedSentence, i: int) -> str:
    return sentence.lows[i] if 0 <= i < len(sentence.lows) else "."


def _drug(sentence: TokenizedSentence, i: int, *, label: bool) -> Run | None:
    lists, dosed = word_lists(), label
    lows = sentence.lows
    small = word_lists().sets["drug.small"]
    for _ in range(6):
        low = _low(sentence, i)
        if (
            _DOSE.match(low) and (not low.isdigit() or _low(sentence, i + 1) in lists.sets["unit"])
        ) or low in lists.sets["unit"]:
            dosed, i = True, i + 1
        elif low in small:
            i += 1
    if i >= len(lows) or not sentence.tokens[i].word or sentence.tokens[i].hidden:
        return None
    low = lows[i]
    after = i + 1
    known = low in lists.sets["drug"] or (len(low) > 6 and any(low.endswith(tail) for tail in lists.sets["drugsuffix"]))
    known = known or (
        len(low) > 8 and low.endswith(("ine", "ol", "one", "ate", "ide")) and _dose_follows(sentence, after)
    )
    if known:
        return (i, after)
    if low in lists.sets["stop"] | lists.sets["cut"] | lists.sets["adverb"] or low.endswith("ly"):
        return None
    if low == "vitamin" and after < len(lows):
        return (i, after + 1)
    return (i, after) if (dosed and (label or low.isalpha())) or _dose_follows(sentence, after) else None


def _dose_follows(sentence: TokenizedSentence, i: int) -> bool:
    low = _low(sentence, i)
    joined = bool(re.fullmatch(r"\d+(?:[.,]\d+)?(?:mg|mcg|µg|ml|iu)", low))
    return joined or (low[:1].isdigit() and _low(sentence, i + 1) in word_lists().sets["dose_follows"])


def drugs(sentence: TokenizedSentence, i: int) -> list[Run]:
    """Medicines: known by name or ending, or by their dose."""
    return _drugs(sentence, i, label=False)


def drugs_listed(sentence: TokenizedSentence, i: int) -> list[Run]:
    """Medicines behind "meds:"."""
    return _drugs(sentence, i, label=True)


def _drugs(sentence: TokenizedSentence, i: int, *, label: bool) -> list[Run]:
    found: list[Run] = []
    lows = sentence.lows
    for _ in range(8):
        run = _drug(sentence, i, label=label)
        if run is None or lows[run[0]] in ("none", "nothing", "no"):
            break
        found.append(run)
        i = run[1]
        while i < len(lows) and (
            _DOSE.match(lows[i])
            or lows[i] in word_lists().sets["unit"]
            or lows[i] in word_lists().sets["adverb"]
            or lows[i] in word_lists().sets["drugs.doses"]
        ):
            i += 1
        if _low(sentence, i) not in word_lists().sets["drugs.joins"]:
            break
        while _low(sentence, i) in word_lists().sets["drugs.joins"]:
            i += 1
    return found


def _condition(sentence: TokenizedSentence, i: int) -> Run | None:
    run = noun_run(sentence, i, stop=word_lists().sets["condition.ends"], most=6)
    return clean_run(sentence, run)


def conditions(sentence: TokenizedSentence, i: int) -> list[Run]:
    """What somebody was diagnosed with."""
    return [
        run
        for run in split_runs(sentence, i, _condition, label=_low(sentence, i - 1) in (":", "="))
        if _low(sentence, run[0]) not in ("pending", "unclear", "unknown")
    ]


def _sure_condition(sentence: TokenizedSentence, i: int) -> Run | None:
    run = _condition(sentence, i)
    if run is None:
        return None
    lists, head = word_lists(), sentence.lows[run[1] - 1]
    if head == "'s":
        head = sentence.lows[run[1] - 2] + "'s"
    known = (
        head in lists.sets["condition"]
        or head in lists.sets["conditionhead"]
        or sentence.lows[run[0]] in lists.sets["condition"]
    )
    known = known or (head in word_lists().sets["sure_condition"] and "type" in sentence.lows[run[0] : run[1]])
    return (
        run if known or (len(head) > 6 and any(head.endswith(tail) for tail in lists.sets["conditionsuffix"])) else None
    )


def conditions_sure(sentence: TokenizedSentence, i: int) -> list[Run]:
    """An illness behind words that anything may follow (`I have ...`)."""
    return split_runs(sentence, i, _sure_condition)


def _field(sentence: TokenizedSentence, i: int) -> Run | None:
    return clean_run(sentence, noun_run(sentence, i, stop=word_lists().sets["study_stop"], most=6))


def study(sentence: TokenizedSentence, i: int) -> list[Run]:
    """What somebody studies."""
    if _low(sentence, i) in word_lists().sets["study.starts"]:
        return []
    return [
        run
        for run in split_runs(sentence, i, _field)
        if head_of(sentence, run) not in word_lists().sets["study.heads"]
        and sentence.lows[run[0]] not in word_lists().sets["weekday"] | word_lists().sets["month"]
    ]


def study_sure(sentence: TokenizedSentence, i: int) -> list[Run]:
    """`reading marine biology`: a subject one reads at a university."""
    run = _field(sentence, i)
    if run is None:
        return []
    lists, head = word_lists(), sentence.lows[run[1] - 1]
    known = head in lists.sets["subject"] or (head in lists.sets["subjecthead"] and run[1] - run[0] > 1)
    return (
        [run] if known or (len(head) > 6 and any(head.endswith(tail) for tail in lists.sets["subjectsuffix"])) else []
    )


def learning(sentence: TokenizedSentence, i: int) -> list[Run]:
    """`learning Korean`, `learning bookbinding`."""
    found = language(sentence, i)
    if found:
        return found
    if _low(sentence, i) in word_lists().sets["learning"]:
        return []
    run = _field(sentence, i)
    return [run] if run and (study_sure(sentence, i) or sentence.lows[run[1] - 1].endswith("ing")) else []


HEALTH: Mapping[str, Reader] = {
    "drug": drugs,
    "druglist": drugs_listed,
    "cond": conditions,
    "condsure": conditions_sure,
    "study": study,
    "studysure": study_sure,
    "learn": learning,
}
