"""Whether a phrase is meant as a time, or only looks like one: names, titles, verbs, recurring days, counts.

Must not do: change a phrase; it is taken as it is or not at all.
"""

from __future__ import annotations

from core.text.stopwords import stop_words
from core.text.timephrases.atoms import TimeHit
from core.text.timephrases.tokens import TimeToken, TokenizedQuestion

_MARKS = ("mark", "dash", "quote")


def is_time(reading: TokenizedQuestion, hit: TimeHit) -> bool:
    """Whether a phrase is meant as a time in its question.

    Args:
        reading: the question.
        hit: a phrase with its place.

    Returns:
        False for what stands in quotation marks, recurs, is a name, a verb or a number of things.
    """
    tokens = reading.tokens[hit.start : hit.end]
    if all(token.quoted for token in tokens) or _recurs(reading, hit):
        return False
    first = _content(reading, hit)
    if hit.unit == "month" and reading.kind(hit.start - 1) in ("number", "ordinal"):
        return False  # "30 February": there is no such day
    if hit.sort == "now":
        return not _is_title(reading, first)
    if hit.sort == "nth" or hit.sort == "nth word":
        return _is_day(reading, hit)
    bare = hit.end - first == 1
    if bare and hit.sort == "weekday":
        return _weekday(reading, hit, first)
    if bare and hit.sort == "month":
        return _month(reading, hit, first)
    if hit.sort == "year":
        return _year(reading, hit)
    return not _lowercase_verb(reading, hit)


def _content(reading: TokenizedQuestion, hit: TimeHit) -> int:
    return hit.start + (reading.word(hit.start) == "the")


def _recurs(reading: TokenizedQuestion, hit: TimeHit) -> bool:
    before = hit.start - 1
    if reading.within(before, "recurring"):
        return True
    if reading.word(before) == "other" and reading.word(before - 1) == "every":
        return True
    if hit.sort in ("weekday", "weekend") or hit.unit == "weekend":
        return reading.within(before, "articles") or reading.within(hit.end, "day_part_plurals")
    return reading.within(hit.end, "day_part_plurals")


def _begins(reading: TokenizedQuestion, place: int) -> bool:
    """Whether a token begins a sentence, where a capital tells nothing."""
    return place <= 0 or reading.word(place - 1) in (".", "!", "?", ":")


def _capital(reading: TokenizedQuestion, place: int) -> bool:
    if not 0 <= place < len(reading.tokens) or reading.kind(place) != "word":
        return False
    token = reading.tokens[place]
    return token.capital and token.text not in ("i", "i'm", "i've", "i'd", "i'll") and not _shouted(reading, token)


def _shouted(reading: TokenizedQuestion, token: TimeToken) -> bool:
    """In a question all in capitals a capital tells nothing."""
    return token.raw.isupper() and all(one.raw.isupper() for one in reading.tokens if one.kind == "word")


def _is_title(reading: TokenizedQuestion, place: int) -> bool:
    """Whether it is as in "USA Today", "the song Yesterday": a capital where none is needed."""
    if _begins(reading, place):
        return (
            _capital(reading, place) and _capital(reading, place + 1) and reading.tokens[place + 1].text not in _known()
        )
    return _capital(reading, place)


def _known() -> frozenset[str]:
    return stop_words()


def _ends(reading: TokenizedQuestion, place: int) -> bool:
    """Whether nothing of content follows: the end, a mark or a function word."""
    if place >= len(reading.tokens) or reading.kind(place) in _MARKS:
        return True
    return reading.word(place).replace("'", "") in stop_words() or reading.within(place, "soft_before")


def _is_day(reading: TokenizedQuestion, hit: TimeHit) -> bool:
    """Whether it is as in "on the 14th", and not "the 2nd floor" or "the third"."""
    if reading.kind(hit.end) == "mark" and reading.word(hit.end) == ".":
        return hit.sort == "nth"
    follows = reading.word(hit.end)
    is_free = _ends(reading, hit.end) and follows not in ("of", "one", "more", "most")
    if hit.sort == "nth":
        return is_free
    return is_free and reading.word(hit.start - 1) in ("on", "since") and not reading.within(hit.start + 1, "numbered")


def _weekday(reading: TokenizedQuestion, hit: TimeHit, first: int) -> bool:
    token = reading.tokens[first]
    prep = reading.word(hit.start - 1)
    if _opening_days(reading, first):
        return False
    if first > hit.start or reading.within(first - 1, "own") or reading.within(first - 1, "holiday_words"):
        return False
    if token.text in reading.words.sets["short"]:
        return prep in ("on", "since", "from") or (token.capital and first > 0 and _ends(reading, hit.end))
    if reading.within(first - 1, "week_preps"):
        return not (prep == "for" and not _ends(reading, hit.end) and not token.owns)
    if _capital(reading, first - 1) and not _begins(reading, first - 1):
        return False
    if token.owns:
        return True
    return _ends(reading, hit.end) and not _capital(reading, hit.end)


def _opening_days(reading: TokenizedQuestion, place: int) -> bool:
    """Whether it is an end of "Monday to Friday", the days of any week."""
    for joint, other in ((place + 1, place + 2), (place - 1, place - 2)):
        is_joint = reading.within(joint, "joins") or reading.kind(joint) == "dash"
        if is_joint and reading.word(other) in reading.words.weekdays:
            return True
    return False


def _month(reading: TokenizedQuestion, hit: TimeHit, first: int) -> bool:
    token = reading.tokens[first]
    before, after = first - 1, hit.end
    prep = reading.word(before)
    is_name = token.text in reading.words.sets["names_of_people"]
    is_doubtful = is_name or token.text in reading.words.sets["verbs_too"] or token.text in reading.words.sets["short"]
    if token.owns and is_name:
        return reading.within(after, "calendar_nouns")
    if reading.within(before, "month_preps"):
        return True
    if not is_doubtful:
        if _capital(reading, before) and not _begins(reading, before):
            return False
        return not _capital(reading, after) or reading.within(before, "week_preps") or reading.word(after) in _known()
    if reading.within(before, "own") or reading.within(before, "articles"):
        return token.capital and reading.within(after, "calendar_nouns")
    if prep == "from":
        return not reading.within(before - 1, "senders")
    if prep in ("for", "of"):
        return not is_name or reading.within(before - 1, "calendar_nouns")
    if reading.within(after, "calendar_nouns"):
        return token.capital or not is_doubtful
    return token.text == "march" and token.capital and _ends(reading, after) and not reading.within(after, "of_it")


def _year(reading: TokenizedQuestion, hit: TimeHit) -> bool:
    before = hit.start - 1
    if reading.within(before, "articles") or reading.within(hit.end, "counted"):
        return False
    if reading.word(before) == "in" or (reading.within(before, "year_preps") and _ends(reading, hit.end)):
        return True
    if reading.word(before) in ("number", "no", "nr", "#", ".") or reading.within(before, "numbered"):
        return False
    is_call = reading.kind(before) == "dash" and reading.kind(before - 1) == "word"
    return not is_call or not reading.tokens[before - 1].raw.isupper()


def _lowercase_verb(reading: TokenizedQuestion, hit: TimeHit) -> bool:
    """Whether it is as in "this may take long", "last march forward": a small letter, no month."""
    last = reading.tokens[hit.end - 1]
    return (
        hit.end - hit.start == 2
        and last.text == "may"
        and not last.capital
        and reading.word(hit.start) == "this"
        and not _ends(reading, hit.end)
    )
