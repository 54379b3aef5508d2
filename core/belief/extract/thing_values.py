"""What is claimed of things and doings: tastes, tools, things owned, clubs, skills, plans and decisions.

Must not do: take anything where a reader is not sure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from core.belief.extract.person_values import HEALTH_READERS, Reader
from core.belief.extract.sentence import (
    Run,
    TokenizedSentence,
    as_list,
    before_preposition,
    capital_run,
    claim_word_lists,
    clean_run,
    head_of,
    noun_run,
    skip_words,
    split_runs,
    trim_phrase,
    word_at,
)

_OF_OWNED = frozenset(("of", "in", "on"))
_TASTE_STOP = frozenset(("for", "anything", "over"))


def _find_taste(sentence: TokenizedSentence, i: int) -> Run | None:
    if word_at(sentence, i) == "to":
        i += 1
    if word_at(sentence, i) in claim_word_lists().sets["taste"]:
        return None
    if word_at(sentence, i) == "being":
        passive = clean_run(sentence, noun_run(sentence, i + 1, stop=_TASTE_STOP, most=6))
        return (i, passive[1]) if passive else None
    return clean_run(sentence, noun_run(sentence, i, stop=_TASTE_STOP, most=8))


def read_tastes(sentence: TokenizedSentence, i: int) -> list[Run]:
    """What somebody likes or cannot stand."""
    behind = word_at(sentence, i)
    shown = behind in ("the", "our", "all") and "of" not in sentence.lows[i : i + 5]
    if shown and (sentence.lows[-1] == "!" or i - 1 <= sentence.begin or word_at(sentence, i - 2) == ","):
        return []
    if behind in claim_word_lists().sets["ends"] or behind in claim_word_lists().sets["tastes"]:
        return []
    return split_runs(sentence, i, _find_taste)


def read_preference(sentence: TokenizedSentence, i: int) -> list[Run]:
    """`tables over paragraphs`, `tea to coffee`: the whole of what is preferred."""
    if word_at(sentence, i) == "to":
        i += 1
    run = clean_run(sentence, noun_run(sentence, i, stop=frozenset(("for", "rather")), most=10))
    if run is None:
        return []
    if word_at(sentence, run[1]) == "and" and not has_word(sentence, run, ("over", "to")):
        more = noun_run(sentence, run[1] + 1, stop=frozenset(("for",)), most=5)
        if (
            more
            and not any(low in claim_word_lists().sets["finite"] for low in sentence.lows[more[0] : more[1] + 1])
            and clean_run(sentence, more)
        ):
            return [run, more]
    return [run]


def has_word(sentence: TokenizedSentence, run: Run, marks: tuple[str, ...]) -> bool:
    """Whether one of some words stands in a run."""
    return any(low in marks for low in sentence.lows[run[0] : run[1]])


def read_rather_phrase(sentence: TokenizedSentence, i: int) -> list[Run]:
    """`I'd rather take the train than fly`."""
    if word_at(sentence, i) in claim_word_lists().sets["rather"]:
        return []
    return as_list(clean_run(sentence, noun_run(sentence, i, stop=frozenset(("than",)), most=10)))


def _find_tool(sentence: TokenizedSentence, i: int) -> Run | None:
    i = skip_words(sentence, i)
    lists = claim_word_lists()
    after = capital_run(sentence, i, frozenset(("&", "of")))
    if after > i and word_at(sentence, i) not in lists.sets["month"] | lists.sets["weekday"] | lists.sets[
        "language"
    ] | {"i"}:
        return (i, after)
    if (
        word_at(sentence, i) in lists.sets["tool"]
        and (sentence.lower or word_at(sentence, i) not in lists.sets["toolcapital"])
        and not sentence.tokens[i].hidden
    ):
        return (i, i + 1)
    return None


def read_named_tools(sentence: TokenizedSentence, i: int) -> list[Run]:
    """Tools with a name."""
    return [run for run in split_runs(sentence, i, _find_tool) if word_at(sentence, run[1]) != "'s"]


def read_adopted_tools(sentence: TokenizedSentence, i: int) -> list[Run]:
    """`moved to Linear`: a tool that is known as one, since people move to places, too."""
    goods = claim_word_lists().sets["tools_moved.goods"]
    moved = any(low in goods for low in sentence.lows[max(0, i - 4) : i])
    return [
        run
        for run in read_named_tools(sentence, i)
        if moved or word_at(sentence, run[0]) in claim_word_lists().sets["tool"]
    ]


def read_tools(sentence: TokenizedSentence, i: int) -> list[Run]:
    """Tools: by name, else a noun that is a tool."""
    found = read_named_tools(sentence, i)
    if found:
        return found
    run = noun_run(sentence, i, stop=claim_word_lists().sets["tools"], most=5)
    return [run] if run and head_of(sentence, run) in claim_word_lists().sets["toolhead"] else []


def read_operated_tools(sentence: TokenizedSentence, i: int) -> list[Run]:
    """`Runs Home Assistant`: a program, not a shop or a race, and not a version."""
    found = read_named_tools(sentence, i)
    if not found or any(text[:1].isdigit() for text in sentence.lows[found[0][0] : found[0][1]]):
        return []
    return found


def read_tools_after_in(sentence: TokenizedSentence, i: int) -> list[Run]:
    """`keep my notes in Obsidian`: a name that is no place, month or language of talk."""
    found = read_named_tools(sentence, i)
    if not found:
        return []
    known = all(low in claim_word_lists().sets["tool"] for run in found for low in sentence.lows[run[0] : run[0] + 1])
    at_work = any(
        low in claim_word_lists().sets["workplace"] | claim_word_lists().sets["club"]
        for run in found
        for low in sentence.lows[run[0] : run[1]]
    )
    verbs = claim_word_lists().sets["tool_in.verbs"]
    return found if not at_work and (known or any(low in verbs for low in sentence.lows)) else []


def read_labelled_tool(sentence: TokenizedSentence, i: int) -> list[Run]:
    """What stands behind "my editor is"."""
    named = read_named_tools(sentence, i)
    if named:
        return named
    run = noun_run(sentence, i, most=2)
    return [run] if run and sentence.lower and run[1] - run[0] == 1 else []


def _find_owned_thing(sentence: TokenizedSentence, i: int) -> Run | None:
    if word_at(sentence, i) in claim_word_lists().sets["owned"]:
        return None
    run = noun_run(sentence, i, most=9)
    return clean_run(sentence, before_preposition(sentence, run)) if run else None


def _find_owned_with_place(sentence: TokenizedSentence, i: int) -> Run | None:
    """As `_find_owned_thing`, with what it is part of or where it stands: two flats in Derby, a share in a horse."""
    if word_at(sentence, i) in claim_word_lists().sets["owned"]:
        return None
    run = noun_run(sentence, i, most=9)
    return clean_run(sentence, before_preposition(sentence, run, _OF_OWNED)) if run else None


def read_owned_things(sentence: TokenizedSentence, i: int) -> list[Run]:
    """Things owned."""
    return _keep_owned(sentence, split_runs(sentence, i, _find_owned_with_place))


def _keep_owned(sentence: TokenizedSentence, found: list[Run]) -> list[Run]:
    return [run for run in found if head_of(sentence, run) not in ("up", "goal", "mistake", "fault")]


def read_bought_things(sentence: TokenizedSentence, i: int) -> list[Run]:
    """Something bought to keep: with an article, and nothing to eat or drink."""
    if word_at(sentence, i) not in claim_word_lists().sets["bought"]:
        return []
    found = _keep_owned(sentence, split_runs(sentence, i, _find_owned_thing))
    consumables = claim_word_lists().sets["consumable"]
    return [run for run in found if not any(low in consumables for low in sentence.lows[run[0] : run[1]])][:1]


def read_durable_thing(sentence: TokenizedSentence, i: int) -> list[Run]:
    """`have a camper van`: only what people own for years."""
    if word_at(sentence, i) not in claim_word_lists().sets["has_thing"]:
        return []
    run = _find_owned_thing(sentence, i)
    return [run] if run and head_of(sentence, run) in claim_word_lists().sets["ownable"] else []


def read_sold_thing(sentence: TokenizedSentence, i: int) -> list[Run]:
    """`sold my car`."""
    return (
        as_list(_find_owned_thing(sentence, i + 1)) if word_at(sentence, i) in claim_word_lists().sets["sold"] else []
    )


def _find_club(sentence: TokenizedSentence, i: int) -> Run | None:
    i = skip_words(sentence, i)
    after = capital_run(sentence, i, claim_word_lists().sets["org_links"])
    if after > i:
        tail = after
        while word_at(sentence, tail) in claim_word_lists().sets["club"]:
            tail += 1
        return (i, tail)
    run = noun_run(sentence, i, stop=claim_word_lists().sets["club.ends"], most=7)
    return (
        before_preposition(sentence, run) if run and head_of(sentence, run) in claim_word_lists().sets["club"] else None
    )


def read_clubs(sentence: TokenizedSentence, i: int) -> list[Run]:
    """What somebody is a member of."""
    first = _find_club(sentence, i)
    return (
        split_runs(sentence, i, _find_club)
        if first
        and word_at(sentence, first[0]) not in claim_word_lists().sets["language"] | claim_word_lists().sets["month"]
        else []
    )


def read_certain_club(sentence: TokenizedSentence, i: int) -> list[Run]:
    """A club behind words that other things follow: its name tells what it is."""
    run = _find_club(sentence, i)
    if run is None or "as" in sentence.lows[max(0, i - 6) : i]:
        return []
    club_word = any(
        low.rstrip("s") in claim_word_lists().sets["club"] or low in claim_word_lists().sets["club"]
        for low in sentence.lows[run[0] : run[1]]
    )
    voices = claim_word_lists().sets["club_sure.voices"]
    music = any(low in voices for low in sentence.lows[max(0, i - 4) : i]) and sentence.tokens[run[0]].cap
    music = music and (word_at(sentence, run[0] - 1) == "the" or word_at(sentence, run[0] - 1) in ("with", "for"))
    return [run] if club_word or music else []


def _find_skill(sentence: TokenizedSentence, i: int) -> Run | None:
    return clean_run(sentence, noun_run(sentence, i, stop=claim_word_lists().sets["skill.ends"], most=7))


def read_skills(sentence: TokenizedSentence, i: int) -> list[Run]:
    """What somebody is good at."""
    before = word_at(sentence, i - 1)
    if before not in ("at", "in", "with") or word_at(sentence, i) in claim_word_lists().sets["skill.starts"]:
        return []
    if before == "with" and word_at(sentence, i - 2) not in claim_word_lists().sets["skill.praise_with"]:
        return []
    if before == "in" and word_at(sentence, i - 2) in claim_word_lists().sets["skill.praise_in"]:
        return []
    return [
        run
        for run in split_runs(sentence, i, _find_skill)
        if head_of(sentence, run) not in claim_word_lists().sets["skill.heads"]
    ]


def read_fronted_skills(sentence: TokenizedSentence, i: int) -> list[Run]:
    """`woodturning is what I'm good at`: what stands before the words."""
    return split_runs(sentence, i, _find_skill)


def read_listed_skills(sentence: TokenizedSentence, i: int) -> list[Run]:
    """What stands behind "skills:"."""
    return split_runs(sentence, i, _find_skill, label=True)


def read_skill_phrase(sentence: TokenizedSentence, i: int) -> list[Run]:
    """`know how to splice rope`."""
    if word_at(sentence, i) in claim_word_lists().sets["skill_phrase"]:
        return []
    return as_list(_find_skill(sentence, i))


def read_skill_verb(sentence: TokenizedSentence, i: int) -> list[Run]:
    """`can still juggle`: something one has learned to do."""
    while word_at(sentence, i) in claim_word_lists().sets["adverb"]:
        i += 1
    low = word_at(sentence, i)
    if low not in claim_word_lists().sets["skillverb"]:
        return []
    if low == "do":
        named = capital_run(sentence, i + 1, frozenset())
        return (
            [(i + 1, named)]
            if named > i + 1 and named < len(sentence.lows) and sentence.tokens[i + 1].text.isupper()
            else []
        )
    run = _find_skill(sentence, i)
    odd = run is not None and any(
        mark in sentence.lows[run[0] : run[1]] for mark in claim_word_lists().sets["skill_verb.odd"]
    )
    return (
        [run]
        if run and not odd and not (low in claim_word_lists().sets["skill_verb.short"] and run[1] - run[0] > 3)
        else []
    )


def _find_verb_phrase(sentence: TokenizedSentence, i: int, stop: frozenset[str]) -> Run | None:
    """A verb with all that belongs to it, up to a mark or a joining word that opens something new."""
    lows, lists = sentence.lows, claim_word_lists()
    j = i
    while j < len(lows) and j - i < 22:
        token, low = sentence.tokens[j], lows[j]
        if not token.word and low not in claim_word_lists().sets["verb_phrase.marks"]:
            break
        if low == "-" and sentence.text[token.start - 1 : token.start].isspace():
            break
        if low in stop or low in claim_word_lists().sets["verb_phrase.ends"]:
            break
        if low in ("and", "or") and (
            word_at(sentence, j + 1) in lists.sets["finite"]
            or word_at(sentence, j + 1) in claim_word_lists().sets["verb_phrase.subjects"]
        ):
            break
        j += 1
    if j - i >= 22:
        return None
    j = trim_phrase(sentence, i, j)
    return (i, j) if j > i and lows[i] not in lists.sets["stop"] | lists.sets["det"] else None


_SEASON = (
    "spring|summer|autumn|fall|winter|christmas|easter|january|february|march|april|may|june|july|august|september"
    "|october|november|december"
)
_DEICTIC = re.compile(
    rf" (?:(?:this|next) (?:week|weekend|month|year|spring|summer|autumn|fall|winter|\w+day)|tomorrow|tonight|today"
    r"|(?:by|before|until|till) (?:the end of )?(?:next |this |the )?"
    rf"(?:(?:19|20)\d\d|week|month|year|season|{_SEASON})"
    rf"|(?:in|over|during|at|after|from) (?:early |late |the |next )?(?:(?:19|20)\d\d|{_SEASON})|on \w+days?"
    r"|soon|one day|some day|someday|eventually|sometime)$"
)


def _trim_time(sentence: TokenizedSentence, run: Run | None) -> Run | None:
    """Leave out a time at the end: when it is to be is not what it is (`next spring`, `in May`)."""
    if run is None:
        return None
    found = _DEICTIC.search(" ".join(sentence.lows[run[0] : run[1]]))
    after = run[1] - len(found.group().split()) if found else run[1]
    return (run[0], trim_phrase(sentence, run[0], after)) if after > run[0] else None


def read_plan(sentence: TokenizedSentence, i: int) -> list[Run]:
    """What somebody is going to do."""
    return [
        run
        for run in as_list(_trim_time(sentence, _find_verb_phrase(sentence, i, frozenset())))
        if run[1] - run[0] > 1 or sentence.lows[run[0]] in claim_word_lists().sets["plan"]
    ]


def read_going_to_plan(sentence: TokenizedSentence, i: int) -> list[Run]:
    """Behind "I'm going to": a verb, not a place, and not what is about to happen to one."""
    low = word_at(sentence, i)
    idle = claim_word_lists().sets["plan_going.idle"]
    if any(word in claim_word_lists().sets["plan_going"] for word in sentence.lows[i + 1 : i + 3]):
        return []
    return (
        []
        if low in idle or (i < len(sentence.tokens) and sentence.tokens[i].cap) or low in claim_word_lists().sets["det"]
        else read_plan(sentence, i)
    )


def read_gerund_plan(sentence: TokenizedSentence, i: int) -> list[Run]:
    """Behind "planning on": a verb with -ing."""
    return read_plan(sentence, i) if word_at(sentence, i).endswith("ing") else []


def read_goal(sentence: TokenizedSentence, i: int) -> list[Run]:
    """A goal, without its `to`."""
    i = i + 1 if word_at(sentence, i) == "to" else i
    run = _trim_time(sentence, _find_verb_phrase(sentence, skip_words(sentence, i), frozenset()))
    return (
        [run]
        if run
        and run[1] - run[0] > 1
        and not has_word(sentence, run, ("is", "are"))
        and sentence.lows[run[0]] not in ("still", "not", "unclear")
        else []
    )


def read_decision(sentence: TokenizedSentence, i: int) -> list[Run]:
    """What was decided."""
    i = i + 1 if word_at(sentence, i) == "to" else i
    start = skip_words(sentence, i)
    run = _trim_time(sentence, _find_verb_phrase(sentence, start, frozenset()))
    return [run] if run and sentence.lows[run[0]] not in claim_word_lists().sets["decision"] else []


def read_chosen_thing(sentence: TokenizedSentence, i: int) -> list[Run]:
    """What was settled on or chosen."""
    behind = word_at(sentence, i - 1)
    if behind in ("picked", "chose", "chosen", "selected") and sentence.lows[i - 2 : i - 1] not in (
        ["we"],
        ["'ve"],
        ["have"],
        ["i"],
        ["finally"],
    ):
        return []
    if behind in ("agreed", "settled"):
        return []
    plain = behind in ("picked", "chose", "chosen", "selected") and not (
        word_at(sentence, i) in claim_word_lists().sets["det"] or (i < len(sentence.tokens) and sentence.tokens[i].cap)
    )
    if plain:
        return []
    run = noun_run(sentence, i, stop=claim_word_lists().sets["decision_noun"], most=8)
    return (
        as_list(clean_run(sentence, run))
        if run and not claim_word_lists().sets["verbal"] & set(sentence.lows[run[0] : run[1]])
        else []
    )


THING_READERS: Mapping[str, Reader] = {
    **HEALTH_READERS,
    "likes": read_tastes,
    "likesleft": read_tastes,
    "tooltwo": read_named_tools,
    "toolswap": read_named_tools,
    "pref": read_preference,
    "rather": read_rather_phrase,
    "tool": read_tools,
    "toolcap": read_named_tools,
    "toolmoved": read_adopted_tools,
    "toolrun": read_operated_tools,
    "toolin": read_tools_after_in,
    "toollabel": read_labelled_tool,
    "own": read_owned_things,
    "ownbuy": read_bought_things,
    "ownhave": read_durable_thing,
    "ownsold": read_sold_thing,
    "club": read_clubs,
    "clubany": read_clubs,
    "clubsure": read_certain_club,
    "skill": read_skills,
    "skillany": read_fronted_skills,
    "skillvp": read_skill_phrase,
    "skillverb": read_skill_verb,
    "skilllist": read_listed_skills,
    "vp": read_plan,
    "vpgo": read_going_to_plan,
    "vping": read_gerund_plan,
    "vplabel": read_plan,
    "goal": read_goal,
    "decide": read_decision,
    "decidenp": read_chosen_thing,
}
