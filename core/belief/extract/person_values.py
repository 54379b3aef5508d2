"""What is claimed of people: one reader for each kind of value, such as names, places, work, age, languages, health.

Must not do: take anything where a reader is not sure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from core.belief.extract.sentence import (
    Run,
    TokenizedSentence,
    as_list,
    capital_run,
    claim_word_lists,
    clean_run,
    head_of,
    noun_run,
    skip_words,
    split_runs,
    word_at,
)

Reader = Callable[[TokenizedSentence, int], list[Run]]
_DOSE = re.compile(r"\d+(?:[.,]\d+)*(?:mg|mcg|µg|g|ml|iu)?$")


def read_person_name(sentence: TokenizedSentence, i: int) -> list[Run]:
    """A name of a person or an animal."""
    if not (found := _find_person_name(sentence, i)) or word_at(sentence, found[1]) == "'s":
        return []
    return [found]


def read_own_name(sentence: TokenizedSentence, i: int) -> list[Run]:
    """The speaker's name in "I'm Rosalind": a name that stands alone behind the words."""
    after = capital_run(sentence, i, claim_word_lists().sets["name_links"])
    known = claim_word_lists()
    if after == i or after - i > 3 or any(low in known.sets["notname"] for low in sentence.lows[i:after]):
        return []
    if sentence.tokens[i].text.isupper() and len(sentence.tokens[i].text) > 1:
        return []
    if any(
        low in known.sets["job"] or low in known.sets["language"] or low in known.sets["month"]
        for low in sentence.lows[i:after]
    ):
        return []
    if word_at(sentence, after) not in claim_word_lists().sets["own_name"]:
        return []
    if "-" in sentence.tokens[i].text and not sentence.tokens[i].text.split("-")[-1][:1].isupper():
        return []
    return [(i, after)]


def read_home_place(sentence: TokenizedSentence, i: int) -> list[Run]:
    """Where somebody lives: a name of a place."""
    i = _skip_dwelling(sentence, skip_words(sentence, i))
    after = capital_run(sentence, i, claim_word_lists().sets["place_links"])
    if after > i and any(sign.isdigit() for sign in sentence.text_between(i, after)):
        return []
    if after > i:
        return (
            [(i, after)]
            if word_at(sentence, i) not in claim_word_lists().sets["month"] and word_at(sentence, after) != "'s"
            else []
        )
    inner = noun_run(sentence, i, stop=claim_word_lists().sets["place.ends"], most=4)
    if inner and word_at(sentence, inner[1]) in ("of", "called"):
        inner_after = capital_run(sentence, inner[1] + 1, claim_word_lists().sets["place_links"])
        if inner_after > inner[1] + 1 and sentence.lows[inner[0]] in claim_word_lists().sets["place.kinds"]:
            return [(inner[1] + 1, inner_after)]
    if inner and sentence.lower and inner[1] - inner[0] <= 2 and word_at(sentence, inner[1]) != "of":
        return [inner] if head_of(sentence, inner) not in claim_word_lists().sets["placeidiom"] else []
    return []


def read_place_since(sentence: TokenizedSentence, i: int) -> list[Run]:
    """`in Maastricht since 2021`: a place is a home only with a time behind it."""
    found = read_home_place(sentence, i)
    behind = found[0][1] if found else 0
    if not found or behind >= len(sentence.tokens) or word_at(sentence, behind) not in ("since", "for", "ever"):
        return []
    return found


def read_move_destination(sentence: TokenizedSentence, i: int) -> list[Run]:
    """`moved from Leeds to York`: the second place."""
    first = read_home_place(sentence, i)
    if not first or word_at(sentence, first[0][1]) != "to":
        return []
    return read_home_place(sentence, first[0][1] + 1)


def read_called_home(sentence: TokenizedSentence, i: int) -> list[Run]:
    """`call Graz home`."""
    found = read_home_place(sentence, i)
    return found if found and word_at(sentence, found[0][1]) == "home" else []


def read_named_org(sentence: TokenizedSentence, i: int) -> list[Run]:
    """A workplace with a name."""
    found = _find_org(sentence, i)
    if found and sentence.tokens[found[1] - 1].text[:1].isdigit():
        return []  # a street with its number
    if not found or word_at(sentence, found[0]) in claim_word_lists().sets["month"] | claim_word_lists().sets[
        "weekday"
    ] | {"i"}:
        return []
    return [found]


def read_org(sentence: TokenizedSentence, i: int) -> list[Run]:
    """A workplace: its name, else the noun (`bakery`)."""
    named = read_named_org(sentence, i)
    if named:
        return named
    run = noun_run(sentence, i, stop=claim_word_lists().sets["noun_stop"], most=5)
    if run and (
        head_of(sentence, run) in claim_word_lists().sets["workplace"] or (sentence.lower and run[1] - run[0] <= 2)
    ):
        return [run] if head_of(sentence, run) not in claim_word_lists().sets["placeidiom"] else []
    return []


def read_org_further_on(sentence: TokenizedSentence, i: int) -> list[Run]:
    """`teaches geography at Thornbury Academy`: a workplace a few words on."""
    for j in range(i, min(i + 7, len(sentence.tokens))):
        token, low = sentence.tokens[j], sentence.lows[j]
        if token.hidden or not (token.word or low in ("-", "/")) or low in claim_word_lists().sets["conj"] - {"and"}:
            break
        if low in ("at", "for") and j + 1 < len(sentence.tokens):
            return read_named_org(sentence, j + 1) if low == "at" or j == i else []
    return []


def read_employer(sentence: TokenizedSentence, i: int) -> list[Run]:
    """`drives a tram for Nordbahn`: whom one works for, a few words on and last in its clause."""
    for j in range(i, min(i + 5, len(sentence.tokens) - 1)):
        if sentence.tokens[j].hidden or not sentence.tokens[j].word:
            break
        if sentence.lows[j] == "for":
            found = read_named_org(sentence, j + 1)
            known = claim_word_lists().sets
            people = any(sentence.lows[n] in known["kinname"] for run in found for n in range(*run))
            closed = found and word_at(sentence, found[0][1]) in claim_word_lists().sets["org_for"]
            return found if closed and not people and found[0][0] - j <= 3 else []
    return []


def read_joined_org(sentence: TokenizedSentence, i: int) -> list[Run]:
    """`joined Velland Foods as ...`: a workplace if something of work is said of it."""
    found = read_named_org(sentence, i)
    if not found:
        return []
    run = found[0]
    if any(low in claim_word_lists().sets["club"] for low in sentence.lows[run[0] : run[1]]):
        return []
    behind = sentence.lows[run[1] : run[1] + 6]
    return found if "as" in behind[:4] else []


def read_left_org(sentence: TokenizedSentence, i: int) -> list[Run]:
    """`left Velland Foods`: a workplace only where a job is spoken of."""
    found = read_named_org(sentence, i)
    marks = claim_word_lists().sets["org_left.marks"]
    firm = any(low in claim_word_lists().sets["org_left"] for run in found for low in sentence.lows[run[0] : run[1]])
    return found if found and (firm or any(mark in sentence.lows for mark in marks)) else []


def read_role(sentence: TokenizedSentence, i: int) -> list[Run]:
    """What somebody does for a living, behind "I'm a"."""
    run = _find_role(sentence, i)
    if run is None or not _is_certain_role(sentence, run, loose=False):
        return []
    return _split_roles(sentence, run)


def read_certain_role(sentence: TokenizedSentence, i: int) -> list[Run]:
    """A role behind words that other things follow, too (`became a ...`)."""
    run = _find_role(sentence, i)
    return [run] if run and _is_certain_role(sentence, run, loose=True) else []


def read_bare_role(sentence: TokenizedSentence, i: int) -> list[Run]:
    """`I'm head of procurement`: a role without an article."""
    heads = claim_word_lists().sets["role_head.heads"]
    i = i + 1 if word_at(sentence, i) in ("the", "now", "still") else i
    if word_at(sentence, i) not in heads:
        return []
    run = _find_role(sentence, i)
    return [run] if run and _is_certain_role(sentence, run, loose=False) else []


def read_any_role(sentence: TokenizedSentence, i: int) -> list[Run]:
    """A role behind words that nothing else follows (`works as a ...`)."""
    run = _find_role(sentence, i)
    if run is None or any(low in claim_word_lists().sets["finite"] for low in sentence.lows[run[0] : run[1]]):
        return []
    return [run] if not sentence.lows[run[0]].endswith("ing") and run[1] - run[0] <= 6 else []


def read_age(sentence: TokenizedSentence, i: int) -> list[Run]:
    """How old somebody is: a number that nothing but an age follows."""
    run = _find_number(sentence, i)
    if run is None:
        return []
    behind, then = word_at(sentence, run[1]), word_at(sentence, run[1] + 1)
    if behind in ("years", "year") and then in ("old", "of", "young"):
        return [run]
    marks = claim_word_lists().sets["age.marks"]
    if behind not in marks or (behind == "and" and (then in ("a", "half") or _find_number(sentence, run[1] + 1))):
        return []
    single = run[1] - run[0] == 1 and sentence.lows[run[0]] == "one"
    return [] if single else [run]


def read_turned_age(sentence: TokenizedSentence, i: int) -> list[Run]:
    """`turned nineteen`."""
    run = _find_number(sentence, i)
    if run is None or word_at(sentence, i - 1) == "turns":
        return []
    return [run] if word_at(sentence, run[1]) not in claim_word_lists().sets["age_turn"] else []


def read_bare_age(sentence: TokenizedSentence, i: int) -> list[Run]:
    """A number behind a word for age."""
    return as_list(_find_number(sentence, i))


def read_languages(sentence: TokenizedSentence, i: int) -> list[Run]:
    """Languages."""
    label = bool(i and sentence.lows[i - 1] in (":", "="))
    first = _find_language(sentence, i)
    if first and not label and word_at(sentence, first[1]) == "," and _find_language(sentence, first[1] + 1):
        label = True
    return split_runs(sentence, i, _find_language, label=label)


def read_known_languages(sentence: TokenizedSentence, i: int) -> list[Run]:
    """Languages behind "some" or "a little", where they are not adjectives (`some French cheese`)."""
    found = read_languages(sentence, i)
    ends = claim_word_lists().sets["language_known.ends"]
    return found if found and word_at(sentence, found[-1][1]) in ends else []


def read_unknown_language(sentence: TokenizedSentence, i: int) -> list[Run]:
    """`No Korean at all`."""
    run = _find_language(sentence, i)
    if run is None or i - 1 != sentence.begin or run[0] > i + 4:
        return []
    return [run] if word_at(sentence, run[1]) in claim_word_lists().sets["no_language"] else []


def read_items(sentence: TokenizedSentence, i: int) -> list[Run]:
    """A list of plain nouns."""
    return split_runs(sentence, i, _find_item)


def read_labelled_items(sentence: TokenizedSentence, i: int) -> list[Run]:
    """A list behind a label, where commas suffice."""
    return split_runs(sentence, i, _find_item, label=True)


def read_allergens(sentence: TokenizedSentence, i: int) -> list[Run]:
    """What stands behind "allergies:"."""
    found = split_runs(sentence, i, _find_item, label=True)
    return [run for run in found if sentence.lows[run[0]] not in claim_word_lists().sets["none"]]


def read_allergy_modifier(sentence: TokenizedSentence, i: int) -> list[Run]:
    """`have a peanut allergy`: the words between the article and the last one."""
    lows = sentence.lows
    adjectives = claim_word_lists().sets["mid_allergy.adjectives"]
    last = first = i - 1
    while first > 0 and last - first < 3 and lows[first - 1] not in adjectives and sentence.tokens[first - 1].word:
        if lows[first - 1] in ("have", "has", "got"):
            break
        first -= 1
    return [(first, last)] if lows[last] in ("allergy", "allergies") and 0 < last - first < 3 else []


def read_class_modifier(sentence: TokenizedSentence, i: int) -> list[Run]:
    """`taking pottery classes`: the words before the last one."""
    lows = sentence.lows
    first = last = i - 1
    idle = claim_word_lists().sets["mid_class.idle"]
    while first > 0 and last - first < 3 and lows[first - 1] not in idle and sentence.tokens[first - 1].word:
        first -= 1
    return [(first, last)] if 0 < last - first < 3 and lows[first] not in claim_word_lists().sets["stop"] else []


PERSON_READERS: Mapping[str, Reader] = {
    "name": read_person_name,
    "nameonly": read_person_name,
    "ownname": read_own_name,
    "place": read_home_place,
    "placesince": read_place_since,
    "moveto": read_move_destination,
    "callhome": read_called_home,
    "org": read_org,
    "orgcap": read_named_org,
    "orglater": read_org_further_on,
    "orgfor": read_employer,
    "orgjoin": read_joined_org,
    "midclass": read_class_modifier,
    "orgleft": read_left_org,
    "role": read_role,
    "rolesure": read_certain_role,
    "rolehead": read_bare_role,
    "roleany": read_any_role,
    "age": read_age,
    "ageturn": read_turned_age,
    "agebare": read_bare_age,
    "lang": read_languages,
    "langknow": read_known_languages,
    "nolang": read_unknown_language,
    "list": read_items,
    "labels": read_labelled_items,
    "allergen": read_allergens,
    "midallergy": read_allergy_modifier,
}


def read_drugs(sentence: TokenizedSentence, i: int) -> list[Run]:
    """Medicines: known by name or ending, or by their dose."""
    return _find_drugs(sentence, i, label=False)


def read_listed_drugs(sentence: TokenizedSentence, i: int) -> list[Run]:
    """Medicines behind "meds:"."""
    return _find_drugs(sentence, i, label=True)


def read_conditions(sentence: TokenizedSentence, i: int) -> list[Run]:
    """What somebody was diagnosed with."""
    return [
        run
        for run in split_runs(sentence, i, _find_condition, label=word_at(sentence, i - 1) in (":", "="))
        if word_at(sentence, run[0]) not in ("pending", "unclear", "unknown")
    ]


def read_certain_conditions(sentence: TokenizedSentence, i: int) -> list[Run]:
    """An illness behind words that anything may follow (`I have ...`)."""
    return split_runs(sentence, i, _find_certain_condition)


def read_studies(sentence: TokenizedSentence, i: int) -> list[Run]:
    """What somebody studies."""
    if word_at(sentence, i) in claim_word_lists().sets["study.starts"]:
        return []
    return [
        run
        for run in split_runs(sentence, i, _find_study_field)
        if head_of(sentence, run) not in claim_word_lists().sets["study.heads"]
        and sentence.lows[run[0]] not in claim_word_lists().sets["weekday"] | claim_word_lists().sets["month"]
    ]


def read_certain_study(sentence: TokenizedSentence, i: int) -> list[Run]:
    """`reading marine biology`: a subject one reads at a university."""
    run = _find_study_field(sentence, i)
    if run is None:
        return []
    lists, head = claim_word_lists(), sentence.lows[run[1] - 1]
    known = head in lists.sets["subject"] or (head in lists.sets["subjecthead"] and run[1] - run[0] > 1)
    return (
        [run] if known or (len(head) > 6 and any(head.endswith(tail) for tail in lists.sets["subjectsuffix"])) else []
    )


def read_studied_subject(sentence: TokenizedSentence, i: int) -> list[Run]:
    """`learning Korean`, `learning bookbinding`."""
    found = read_languages(sentence, i)
    if found:
        return found
    if word_at(sentence, i) in claim_word_lists().sets["learning"]:
        return []
    run = _find_study_field(sentence, i)
    return [run] if run and (read_certain_study(sentence, i) or sentence.lows[run[1] - 1].endswith("ing")) else []


HEALTH_READERS: Mapping[str, Reader] = {
    "drug": read_drugs,
    "druglist": read_listed_drugs,
    "cond": read_conditions,
    "condsure": read_certain_conditions,
    "study": read_studies,
    "studysure": read_certain_study,
    "learn": read_studied_subject,
}


def _find_person_name(sentence: TokenizedSentence, i: int) -> Run | None:
    i = skip_words(sentence, i)
    after = capital_run(sentence, i, claim_word_lists().sets["name_links"])
    if (
        after == i
        or word_at(sentence, i) in claim_word_lists().sets["notname"]
        or word_at(sentence, i) in claim_word_lists().sets["month"]
    ):
        return None
    return (i, after)


def _skip_dwelling(sentence: TokenizedSentence, i: int) -> int:
    """Behind "flat in", "small house near": where the name of the place stands."""
    for j in range(i, min(i + 4, len(sentence.lows) - 2)):
        if sentence.lows[j] in claim_word_lists().sets["dwelling"] and sentence.lows[j + 1] in (
            "in",
            "near",
            "outside",
        ):
            return skip_words(sentence, j + 2)
        if not sentence.tokens[j].word or sentence.tokens[j].cap or sentence.tokens[j].hidden:
            break
    return i


def _find_org(sentence: TokenizedSentence, i: int) -> Run | None:
    i = skip_words(sentence, i)
    after = capital_run(sentence, i, claim_word_lists().sets["org_links"])
    if after > i:
        return (i, after)
    for j in range(i, min(i + 5, len(sentence.tokens))):
        token, low = sentence.tokens[j], sentence.lows[j]
        if token.hidden or not token.word or low in claim_word_lists().sets["org"]:
            break
        after = capital_run(sentence, j, claim_word_lists().sets["org_links"])
        if after > j:
            return (j, after)
    return None


def _find_role(sentence: TokenizedSentence, i: int) -> Run | None:
    lists = claim_word_lists()
    run = noun_run(sentence, skip_words(sentence, i), stop=claim_word_lists().sets["role_run"], most=7)
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


def _is_certain_role(sentence: TokenizedSentence, run: Run, *, loose: bool) -> bool:
    lists = claim_word_lists()
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


def _split_roles(sentence: TokenizedSentence, run: Run) -> list[Run]:
    found = [run]
    if word_at(sentence, run[1]) == "and" and word_at(sentence, run[1] + 1) in ("a", "an", "part-time"):
        second = _find_role(sentence, run[1] + 2)
        if second and _is_certain_role(sentence, second, loose=False):
            found.append(second)
    return found


def _find_number(sentence: TokenizedSentence, i: int) -> Run | None:
    low = word_at(sentence, i)
    if low.isdigit() and 0 < len(low) <= 3 and int(low) < 125:
        return (i, i + 1)
    tens, _, ones = low.partition("-")
    if (
        low in claim_word_lists().sets["small"]
        or low in claim_word_lists().sets["tens"]
        or (tens in claim_word_lists().sets["tens"] and ones in claim_word_lists().sets["small"])
    ):
        return (
            (i, i + 2)
            if low in claim_word_lists().sets["tens"] and word_at(sentence, i + 1) in claim_word_lists().sets["small"]
            else (i, i + 1)
        )
    return None


def _find_language(sentence: TokenizedSentence, i: int) -> Run | None:
    lists = claim_word_lists()
    modifiers = claim_word_lists().sets["language.modifiers"]
    for _ in range(5):
        if word_at(sentence, i) in modifiers and word_at(sentence, i) not in lists.sets["language"]:
            i += 1
    if word_at(sentence, i) not in lists.sets["language"] or sentence.tokens[i].hidden:
        return None
    return (i, i + 1)


def _find_item(sentence: TokenizedSentence, i: int) -> Run | None:
    return noun_run(sentence, i, stop=claim_word_lists().sets["item"], most=6)


def _find_drug(sentence: TokenizedSentence, i: int, *, label: bool) -> Run | None:
    lists, dosed = claim_word_lists(), label
    lows = sentence.lows
    small = claim_word_lists().sets["drug.small"]
    for _ in range(6):
        low = word_at(sentence, i)
        if (
            _DOSE.match(low) and (not low.isdigit() or word_at(sentence, i + 1) in lists.sets["unit"])
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
        len(low) > 8 and low.endswith(("ine", "ol", "one", "ate", "ide")) and _has_dose_behind(sentence, after)
    )
    if known:
        return (i, after)
    if low in lists.sets["stop"] | lists.sets["cut"] | lists.sets["adverb"] or low.endswith("ly"):
        return None
    if low == "vitamin" and after < len(lows):
        return (i, after + 1)
    return (i, after) if (dosed and (label or low.isalpha())) or _has_dose_behind(sentence, after) else None


def _has_dose_behind(sentence: TokenizedSentence, i: int) -> bool:
    low = word_at(sentence, i)
    joined = bool(re.fullmatch(r"\d+(?:[.,]\d+)?(?:mg|mcg|µg|ml|iu)", low))
    return joined or (low[:1].isdigit() and word_at(sentence, i + 1) in claim_word_lists().sets["dose_follows"])


def _find_drugs(sentence: TokenizedSentence, i: int, *, label: bool) -> list[Run]:
    found: list[Run] = []
    lows = sentence.lows
    for _ in range(8):
        run = _find_drug(sentence, i, label=label)
        if run is None or lows[run[0]] in ("none", "nothing", "no"):
            break
        found.append(run)
        i = run[1]
        while i < len(lows) and (
            _DOSE.match(lows[i])
            or lows[i] in claim_word_lists().sets["unit"]
            or lows[i] in claim_word_lists().sets["adverb"]
            or lows[i] in claim_word_lists().sets["drugs.doses"]
        ):
            i += 1
        if word_at(sentence, i) not in claim_word_lists().sets["drugs.joins"]:
            break
        while word_at(sentence, i) in claim_word_lists().sets["drugs.joins"]:
            i += 1
    return found


def _find_condition(sentence: TokenizedSentence, i: int) -> Run | None:
    run = noun_run(sentence, i, stop=claim_word_lists().sets["condition.ends"], most=6)
    return clean_run(sentence, run)


def _find_certain_condition(sentence: TokenizedSentence, i: int) -> Run | None:
    run = _find_condition(sentence, i)
    if run is None:
        return None
    lists, head = claim_word_lists(), sentence.lows[run[1] - 1]
    if head == "'s":
        head = sentence.lows[run[1] - 2] + "'s"
    known = (
        head in lists.sets["condition"]
        or head in lists.sets["conditionhead"]
        or sentence.lows[run[0]] in lists.sets["condition"]
    )
    known = known or (head in claim_word_lists().sets["sure_condition"] and "type" in sentence.lows[run[0] : run[1]])
    return (
        run if known or (len(head) > 6 and any(head.endswith(tail) for tail in lists.sets["conditionsuffix"])) else None
    )


def _find_study_field(sentence: TokenizedSentence, i: int) -> Run | None:
    return clean_run(sentence, noun_run(sentence, i, stop=claim_word_lists().sets["study_stop"], most=6))
