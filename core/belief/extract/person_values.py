"""What is claimed of people: one reader for each kind of value, such as names, places, work, age, languages, health.

Must not do: take anything where a reader is not sure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from core.belief.extract.sentence import (
    Run,
    TokenizedSentence,
    capital_run,
    clean_run,
    head_of,
    noun_run,
    skip,
    split_runs,
    word_lists,
)

Reader = Callable[[TokenizedSentence, int], list[Run]]
_DOSE = re.compile(r"\d+(?:[.,]\d+)*(?:mg|mcg|µg|g|ml|iu)?$")


def name(sentence: TokenizedSentence, i: int) -> list[Run]:
    """A name of a person or an animal."""
    if not (found := _name(sentence, i)) or _low(sentence, found[1]) == "'s":
        return []
    return [found]


def own_name(sentence: TokenizedSentence, i: int) -> list[Run]:
    """The speaker's name in "I'm Rosalind": a name that stands alone behind the words."""
    after = capital_run(sentence, i, word_lists().sets["name_links"])
    known = word_lists()
    if after == i or after - i > 3 or any(low in known.sets["notname"] for low in sentence.lows[i:after]):
        return []
    if sentence.tokens[i].text.isupper() and len(sentence.tokens[i].text) > 1:
        return []
    if any(
        low in known.sets["job"] or low in known.sets["language"] or low in known.sets["month"]
        for low in sentence.lows[i:after]
    ):
        return []
    if _low(sentence, after) not in word_lists().sets["own_name"]:
        return []
    if "-" in sentence.tokens[i].text and not sentence.tokens[i].text.split("-")[-1][:1].isupper():
        return []
    return [(i, after)]


def place(sentence: TokenizedSentence, i: int) -> list[Run]:
    """Where somebody lives: a name of a place."""
    i = _past_dwelling(sentence, skip(sentence, i))
    after = capital_run(sentence, i, word_lists().sets["place_links"])
    if after > i and any(sign.isdigit() for sign in sentence.slice(i, after)):
        return []
    if after > i:
        return (
            [(i, after)]
            if _low(sentence, i) not in word_lists().sets["month"] and _low(sentence, after) != "'s"
            else []
        )
    inner = noun_run(sentence, i, stop=word_lists().sets["place.ends"], most=4)
    if inner and _low(sentence, inner[1]) in ("of", "called"):
        inner_after = capital_run(sentence, inner[1] + 1, word_lists().sets["place_links"])
        if inner_after > inner[1] + 1 and sentence.lows[inner[0]] in word_lists().sets["place.kinds"]:
            return [(inner[1] + 1, inner_after)]
    if inner and sentence.lower and inner[1] - inner[0] <= 2 and _low(sentence, inner[1]) != "of":
        return [inner] if head_of(sentence, inner) not in word_lists().sets["placeidiom"] else []
    return []


def place_since(sentence: TokenizedSentence, i: int) -> list[Run]:
    """`in Maastricht since 2021`: a place is a home only with a time behind it."""
    found = place(sentence, i)
    behind = found[0][1] if found else 0
    if not found or behind >= len(sentence.tokens) or _low(sentence, behind) not in ("since", "for", "ever"):
        return []
    return found


def move_to(sentence: TokenizedSentence, i: int) -> list[Run]:
    """`moved from Leeds to York`: the second place."""
    first = place(sentence, i)
    if not first or _low(sentence, first[0][1]) != "to":
        return []
    return place(sentence, first[0][1] + 1)


def call_home(sentence: TokenizedSentence, i: int) -> list[Run]:
    """`call Graz home`."""
    found = place(sentence, i)
    return found if found and _low(sentence, found[0][1]) == "home" else []


def org_capital(sentence: TokenizedSentence, i: int) -> list[Run]:
    """A workplace with a name."""
    found = _org(sentence, i)
    if found and sentence.tokens[found[1] - 1].text[:1].isdigit():
        return []  # a street with its number
    if not found or _low(sentence, found[0]) in word_lists().sets["month"] | word_lists().sets["weekday"] | {"i"}:
        return []
    return [found]


def org(sentence: TokenizedSentence, i: int) -> list[Run]:
    """A workplace: its name, else the noun (`bakery`)."""
    named = org_capital(sentence, i)
    if named:
        return named
    run = noun_run(sentence, i, stop=word_lists().sets["noun_stop"], most=5)
    if run and (head_of(sentence, run) in word_lists().sets["workplace"] or (sentence.lower and run[1] - run[0] <= 2)):
        return [run] if head_of(sentence, run) not in word_lists().sets["placeidiom"] else []
    return []


def org_later(sentence: TokenizedSentence, i: int) -> list[Run]:
    """`teaches geography at Thornbury Academy`: a workplace a few words on."""
    for j in range(i, min(i + 7, len(sentence.tokens))):
        token, low = sentence.tokens[j], sentence.lows[j]
        if token.hidden or not (token.word or low in ("-", "/")) or low in word_lists().sets["conj"] - {"and"}:
            break
        if low in ("at", "for") and j + 1 < len(sentence.tokens):
            return org_capital(sentence, j + 1) if low == "at" or j == i else []
    return []


def org_for(sentence: TokenizedSentence, i: int) -> list[Run]:
    """`drives a tram for Nordbahn`: whom one works for, a few words on and last in its clause."""
    for j in range(i, min(i + 5, len(sentence.tokens) - 1)):
        if sentence.tokens[j].hidden or not sentence.tokens[j].word:
            break
        if sentence.lows[j] == "for":
            found = org_capital(sentence, j + 1)
            known = word_lists().sets
            people = any(sentence.lows[n] in known["kinname"] for run in found for n in range(*run))
            closed = found and _low(sentence, found[0][1]) in word_lists().sets["org_for"]
            return found if closed and not people and found[0][0] - j <= 3 else []
    return []


def org_join(sentence: TokenizedSentence, i: int) -> list[Run]:
    """`joined Velland Foods as ...`: a workplace if something of work is said of it."""
    found = org_capital(sentence, i)
    if not found:
        return []
    run = found[0]
    if any(low in word_lists().sets["club"] for low in sentence.lows[run[0] : run[1]]):
        return []
    behind = sentence.lows[run[1] : run[1] + 6]
    return found if "as" in behind[:4] else []


def org_left(sentence: TokenizedSentence, i: int) -> list[Run]:
    """`left Velland Foods`: a workplace only where a job is spoken of."""
    found = org_capital(sentence, i)
    marks = word_lists().sets["org_left.marks"]
    firm = any(low in word_lists().sets["org_left"] for run in found for low in sentence.lows[run[0] : run[1]])
    return found if found and (firm or any(mark in sentence.lows for mark in marks)) else []


def role(sentence: TokenizedSentence, i: int) -> list[Run]:
    """What somebody does for a living, behind "I'm a"."""
    run = _role_run(sentence, i)
    if run is None or not _sure_role(sentence, run, loose=False):
        return []
    return _roles(sentence, run)


def role_sure(sentence: TokenizedSentence, i: int) -> list[Run]:
    """A role behind words that other things follow, too (`became a ...`)."""
    run = _role_run(sentence, i)
    return [run] if run and _sure_role(sentence, run, loose=True) else []


def role_head(sentence: TokenizedSentence, i: int) -> list[Run]:
    """`I'm head of procurement`: a role without an article."""
    heads = word_lists().sets["role_head.heads"]
    i = i + 1 if _low(sentence, i) in ("the", "now", "still") else i
    if _low(sentence, i) not in heads:
        return []
    run = _role_run(sentence, i)
    return [run] if run and _sure_role(sentence, run, loose=False) else []


def role_any(sentence: TokenizedSentence, i: int) -> list[Run]:
    """A role behind words that nothing else follows (`works as a ...`)."""
    run = _role_run(sentence, i)
    if run is None or any(low in word_lists().sets["finite"] for low in sentence.lows[run[0] : run[1]]):
        return []
    return [run] if not sentence.lows[run[0]].endswith("ing") and run[1] - run[0] <= 6 else []


def age(sentence: TokenizedSentence, i: int) -> list[Run]:
    """How old somebody is: a number that nothing but an age follows."""
    run = _number(sentence, i)
    if run is None:
        return []
    behind, then = _low(sentence, run[1]), _low(sentence, run[1] + 1)
    if behind in ("years", "year") and then in ("old", "of", "young"):
        return [run]
    marks = word_lists().sets["age.marks"]
    if behind not in marks or (behind == "and" and (then in ("a", "half") or _number(sentence, run[1] + 1))):
        return []
    single = run[1] - run[0] == 1 and sentence.lows[run[0]] == "one"
    return [] if single else [run]


def age_turn(sentence: TokenizedSentence, i: int) -> list[Run]:
    """`turned nineteen`."""
    run = _number(sentence, i)
    if run is None or _low(sentence, i - 1) == "turns":
        return []
    return [run] if _low(sentence, run[1]) not in word_lists().sets["age_turn"] else []


def age_bare(sentence: TokenizedSentence, i: int) -> list[Run]:
    """A number behind a word for age."""
    return _one(_number(sentence, i))


def language(sentence: TokenizedSentence, i: int) -> list[Run]:
    """Languages."""
    label = bool(i and sentence.lows[i - 1] in (":", "="))
    first = _language(sentence, i)
    if first and not label and _low(sentence, first[1]) == "," and _language(sentence, first[1] + 1):
        label = True
    return split_runs(sentence, i, _language, label=label)


def language_known(sentence: TokenizedSentence, i: int) -> list[Run]:
    """Languages behind "some" or "a little", where they are not adjectives (`some French cheese`)."""
    found = language(sentence, i)
    ends = word_lists().sets["language_known.ends"]
    return found if found and _low(sentence, found[-1][1]) in ends else []


def no_language(sentence: TokenizedSentence, i: int) -> list[Run]:
    """`No Korean at all`."""
    run = _language(sentence, i)
    if run is None or i - 1 != sentence.begin or run[0] > i + 4:
        return []
    return [run] if _low(sentence, run[1]) in word_lists().sets["no_language"] else []


def items(sentence: TokenizedSentence, i: int) -> list[Run]:
    """A list of plain nouns."""
    return split_runs(sentence, i, _item)


def labelled_items(sentence: TokenizedSentence, i: int) -> list[Run]:
    """A list behind a label, where commas suffice."""
    return split_runs(sentence, i, _item, label=True)


def allergens(sentence: TokenizedSentence, i: int) -> list[Run]:
    """What stands behind "allergies:"."""
    found = split_runs(sentence, i, _item, label=True)
    return [run for run in found if sentence.lows[run[0]] not in word_lists().sets["none"]]


def mid_allergy(sentence: TokenizedSentence, i: int) -> list[Run]:
    """`have a peanut allergy`: the words between the article and the last one."""
    lows = sentence.lows
    adjectives = word_lists().sets["mid_allergy.adjectives"]
    last = first = i - 1
    while first > 0 and last - first < 3 and lows[first - 1] not in adjectives and sentence.tokens[first - 1].word:
        if lows[first - 1] in ("have", "has", "got"):
            break
        first -= 1
    return [(first, last)] if lows[last] in ("allergy", "allergies") and 0 < last - first < 3 else []


def mid_class(sentence: TokenizedSentence, i: int) -> list[Run]:
    """`taking pottery classes`: the words before the last one."""
    lows = sentence.lows
    first = last = i - 1
    idle = word_lists().sets["mid_class.idle"]
    while first > 0 and last - first < 3 and lows[first - 1] not in idle and sentence.tokens[first - 1].word:
        first -= 1
    return [(first, last)] if 0 < last - first < 3 and lows[first] not in word_lists().sets["stop"] else []


READERS: Mapping[str, Reader] = {
    "name": name,
    "nameonly": name,
    "ownname": own_name,
    "place": place,
    "placesince": place_since,
    "moveto": move_to,
    "callhome": call_home,
    "org": org,
    "orgcap": org_capital,
    "orglater": org_later,
    "orgfor": org_for,
    "orgjoin": org_join,
    "midclass": mid_class,
    "orgleft": org_left,
    "role": role,
    "rolesure": role_sure,
    "rolehead": role_head,
    "roleany": role_any,
    "age": age,
    "ageturn": age_turn,
    "agebare": age_bare,
    "lang": language,
    "langknow": language_known,
    "nolang": no_language,
    "list": items,
    "labels": labelled_items,
    "allergen": allergens,
    "midallergy": mid_allergy,
}


def drugs(sentence: TokenizedSentence, i: int) -> list[Run]:
    """Medicines: known by name or ending, or by their dose."""
    return _drugs(sentence, i, label=False)


def drugs_listed(sentence: TokenizedSentence, i: int) -> list[Run]:
    """Medicines behind "meds:"."""
    return _drugs(sentence, i, label=True)


def conditions(sentence: TokenizedSentence, i: int) -> list[Run]:
    """What somebody was diagnosed with."""
    return [
        run
        for run in split_runs(sentence, i, _condition, label=_low(sentence, i - 1) in (":", "="))
        if _low(sentence, run[0]) not in ("pending", "unclear", "unknown")
    ]


def conditions_sure(sentence: TokenizedSentence, i: int) -> list[Run]:
    """An illness behind words that anything may follow (`I have ...`)."""
    return split_runs(sentence, i, _sure_condition)


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


def studied_subject(sentence: TokenizedSentence, i: int) -> list[Run]:
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
    "learn": studied_subject,
}


def _low(sentence: TokenizedSentence, i: int) -> str:
    return sentence.lows[i] if 0 <= i < len(sentence.lows) else "."


def _one(run: Run | None) -> list[Run]:
    return [run] if run else []


def _name(sentence: TokenizedSentence, i: int) -> Run | None:
    i = skip(sentence, i)
    after = capital_run(sentence, i, word_lists().sets["name_links"])
    if (
        after == i
        or _low(sentence, i) in word_lists().sets["notname"]
        or _low(sentence, i) in word_lists().sets["month"]
    ):
        return None
    return (i, after)


def _past_dwelling(sentence: TokenizedSentence, i: int) -> int:
    """Behind "flat in", "small house near": where the name of the place stands."""
    for j in range(i, min(i + 4, len(sentence.lows) - 2)):
        if sentence.lows[j] in word_lists().sets["dwelling"] and sentence.lows[j + 1] in ("in", "near", "outside"):
            return skip(sentence, j + 2)
        if not sentence.tokens[j].word or sentence.tokens[j].cap or sentence.tokens[j].hidden:
            break
    return i


def _org(sentence: TokenizedSentence, i: int) -> Run | None:
    i = skip(sentence, i)
    after = capital_run(sentence, i, word_lists().sets["org_links"])
    if after > i:
        return (i, after)
    for j in range(i, min(i + 5, len(sentence.tokens))):
        token, low = sentence.tokens[j], sentence.lows[j]
        if token.hidden or not token.word or low in word_lists().sets["org"]:
            break
        after = capital_run(sentence, j, word_lists().sets["org_links"])
        if after > j:
            return (j, after)
    return None


def _role_run(sentence: TokenizedSentence, i: int) -> Run | None:
    lists = word_lists()
    run = noun_run(sentence, skip(sentence, i), stop=word_lists().sets["role_run"], most=7)
    if run is None:
        return None
    first, after = run
    for j in range(first, after):
        if sentence.lows[j] == "in" and sentence.lows[j - 1] not in ("head", "director", "vp"):
            after = j
            break
    while first < after - 1 and sentence.lows[first] in lists.sets["jobdrop"] | lists.sets["adverb"]:
        first += 1
    return (first, after) if after > first else None


def _sure_role(sentence: TokenizedSentence, run: Run, *, loose: bool) -> bool:
    lists = word_lists()
    lows = sentence.lows[run[0] : run[1]]
    head = lows[lows.index("of") - 1] if "of" in lows[1:] else lows[-1]
    if head in lists.sets["nojob"] or any(low in ("'s", "'d") for low in lows):
        return False
    if head in lists.sets["job"] or head.split("-")[-1] in lists.sets["job"]:
        return True
    if head in lists.sets["jobsuffix"] or (
        len(head) > 6 and any(head.endswith(end) for end in lists.sets["jobsuffix"])
    ):
        return True
    return loose and head.endswith(
        ("er", "or", "ist", "ian", "ant", "man", "woman", "eer", "ess", "ic", "yst", "person")
    )


def _roles(sentence: TokenizedSentence, run: Run) -> list[Run]:
    found = [run]
    if _low(sentence, run[1]) == "and" and _low(sentence, run[1] + 1) in ("a", "an", "part-time"):
        second = _role_run(sentence, run[1] + 2)
        if second and _sure_role(sentence, second, loose=False):
            found.append(second)
    return found


def _number(sentence: TokenizedSentence, i: int) -> Run | None:
    low = _low(sentence, i)
    if low.isdigit() and 0 < len(low) <= 3 and int(low) < 125:
        return (i, i + 1)
    tens, _, ones = low.partition("-")
    if (
        low in word_lists().sets["small"]
        or low in word_lists().sets["tens"]
        or (tens in word_lists().sets["tens"] and ones in word_lists().sets["small"])
    ):
        return (
            (i, i + 2)
            if low in word_lists().sets["tens"] and _low(sentence, i + 1) in word_lists().sets["small"]
            else (i, i + 1)
        )
    return None


def _language(sentence: TokenizedSentence, i: int) -> Run | None:
    lists = word_lists()
    modifiers = word_lists().sets["language.modifiers"]
    for _ in range(5):
        if _low(sentence, i) in modifiers and _low(sentence, i) not in lists.sets["language"]:
            i += 1
    if _low(sentence, i) not in lists.sets["language"] or sentence.tokens[i].hidden:
        return None
    return (i, i + 1)


def _item(sentence: TokenizedSentence, i: int) -> Run | None:
    return noun_run(sentence, i, stop=word_lists().sets["item"], most=6)


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


def _field(sentence: TokenizedSentence, i: int) -> Run | None:
    return clean_run(sentence, noun_run(sentence, i, stop=word_lists().sets["study_stop"], most=6))
