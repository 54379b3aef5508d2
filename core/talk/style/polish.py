"""A rewritten sentence as a careful person would write it down: words of chat written out, the speaker named first.

Works on the sentence alone. Must not do: resolve whom a word means, or take out what narrows a statement.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

from core.talk.clauses import SUBJECTS, has_finite_verb, is_finite
from core.talk.style.gender import Pronouns
from core.talk.vocabulary import Edit, Token, talk_words, tokenize_talk, verb_forms

_HAVING = r"(?:is|are|was|were|has|have|had|will|would|am)"
_REMARK = re.compile(
    r"(?i)(?:,|\s*[-–—]+|;| and) "
    r"(?P<remark>(?:it|that|which|she|he|they)(?:'s| is| are| was| has been| felt| feels| were)\b[^,;]*)\.$"
)
_LATELY = re.compile(
    r"(?i),? (?:lately|these days|at the moment|in the (?:next|coming) (?:few )?(?:days|weeks|months))"
    r"(?=\.$|,| to | and )"
)
_DATE = re.compile(r"(?P<link>on|in) (?P<rest>(?:the (?:week|weekend|morning|evening|afternoon) of )?[\w ]*\d{4})\.$")
_DATE_BEFORE_PLACE = re.compile(
    r"(?P<head>[A-Z][\w'-]* [^,;]+?) (?P<date>(?:on|in) (?:the \w+ of )?[\w ]*\d{4})(?P<tail> to [A-Z][^,;]*\.)$"
)
_LETTERS = r"[BCDFGHJKLMNPQRSTVWXZ]"
_SPELLED = re.compile(rf"\b(?P<a>[Aa]) (?=[FHLMNRSX](?:{_LETTERS}+|{_LETTERS}[A-Z])(?![a-zA-Z]))")
"""An article before a word that is spelled in letters: "an LGBTQ group", "an MRI"."""
_NAMED = re.compile(r"^(?P<whose>[^,;]*'s [\w -]+)'s name is (?P<name>[A-Z][\w'-]+)(?=[.,]| and )")
_THERE_ARE = re.compile(r"\b(?P<there>[Tt]here) is (?=(?:people|many|several|lots|plenty|two|three|four|five)\b)")
"""What talk has in the singular: "there's people who help"."""
_MOST_IN_REMARK = 9  # words


@cache
def shorthand() -> Mapping[str, str]:
    """Words of chat to how they are written out, lower case."""
    words: dict[str, str] = json.loads((files("resources") / "talk" / "shorthand.json").read_text("utf-8"))["words"]
    return words


def write_out(text: str) -> str:
    """A sentence with its words of chat written out: "their biz" is "their business"."""
    table = shorthand()
    for token in reversed(tokenize_talk(text)):
        long = table.get(token.low)
        if long is not None and not token.text.isupper():
            long = long[:1].upper() + long[1:] if token.is_capital and token.start == 0 else long
            text = f"{text[: token.start]}{long}{text[token.end :]}"
    return text


def name_speaker_first(text: str, who: str, pronouns: Pronouns) -> str:
    """Of "Mara's sister and Mara" makes "Mara and their sister", of "their sister and Mara" "they and their sister".

    Args:
        who: the speaker as the statement calls them.
        pronouns: theirs.
    """
    name = re.escape(who)
    noun = r"(?P<noun>[a-z][\w-]*(?: [\w-]+){0,3}?)"
    text = re.sub(rf"^{name}'s? {noun} and {name}(?= [a-z])", rf"{who} and {pronouns.owner} \g<noun>", text)
    text = re.sub(
        rf"^(?P<some>Some|A|An|Two|Three) {noun} and {name}(?= [a-z])",
        lambda found: f"{who} and {found['some'].lower()} {found['noun']}",
        text,
    )
    return re.sub(
        rf"(?<=, )(?:their|her|his) {noun} and {name}(?= [a-z])",
        rf"{pronouns.subject} and {pronouns.owner} \g<noun>",
        text,
    )


def drop_emphasis(text: str, who: str) -> str:
    """A sentence without a word that only stresses its verb: "is definitely moving"; "not really" stays.

    Args:
        who: whom it tells of.
    """
    words = "|".join(sorted(talk_words().sets["emphatic"]))
    lead = rf"(?:{re.escape(who)}|they|he|she|you)" if who else r"(?:they|he|she|you)"
    return re.sub(rf"(?i)\b({lead}(?: {_HAVING})?) (?:{words}) (?=[a-z])", r"\1 ", text)


def drop_remark(text: str) -> str:
    """A sentence without a last remark on how it was: "took the kids camping - it was a really nice time"."""
    match = _REMARK.search(text)
    if match is None:
        return text
    remark = [token.low for token in tokenize_talk(match["remark"]) if token.is_word]
    sets = talk_words().sets
    is_praise = not (sets["praise"] | sets["enjoyments"]).isdisjoint(remark) and len(remark) <= _MOST_IN_REMARK
    tokens = tokenize_talk(text[: match.start()])
    if not is_praise or "but" in remark or "not" in remark or not has_finite_verb(tokens, 1, len(tokens)):
        return text
    return text[: match.start()].rstrip() + "."


def drop_lately(text: str) -> str:
    """A sentence without words that only say that it is so these days: a statement has the day on which it was said."""
    return text if re.search(r"\b(?:not|never|cannot)\b", text) else _LATELY.sub("", text)


def place_date(text: str, dates: Sequence[Edit], who: str = "") -> str:
    """A sentence whose date stands behind another verb than its own with the date in front.

    "Gave the car to a shelter they help at on 3 May 2025" tells of a gift on that day, not of help.

    Args:
        dates: what was put in place of phrases of time that are over.
        who: who said it, as the statement calls them.
    """
    if (placed := _DATE_BEFORE_PLACE.match(text)) and any(one.text.strip() == placed["date"] for one in dates):
        date = placed["date"]
        return f"{date[:1].upper()}{date[1:]} {placed['head']}{placed['tail']}"
    found = _DATE.search(text)
    if found is None or not any(one.text.strip().endswith(found["rest"]) for one in dates):
        return text
    tokens = tokenize_talk(text[: found.start()])
    verbs = [at for at in range(1, len(tokens)) if is_finite(tokens, at)]
    forms = verb_forms()
    if len(verbs) < 2 or tokens[verbs[0]].low not in forms.past or not _is_present(tokens, verbs[-1], who):
        return text
    head = text[: found.start()].rstrip()
    link = found["link"].capitalize()
    return f"{link} {found['rest']} {head}."


def _is_present(tokens: Sequence[Token], at: int, who: str) -> bool:
    """Whether a verb is of now and has a pronoun or the speaker before it: "they help at"."""
    low, forms, before = tokens[at].low, verb_forms(), tokens[at - 1]
    is_subject = before.low in SUBJECTS or (bool(who) and before.text == who.split()[-1])
    return is_subject and (low in forms.third or low in forms.base)


def polish_sentence(text: str, who: str, pronouns: Pronouns, dates: Sequence[Edit]) -> str:
    """A rewritten sentence as it is kept.

    Args:
        who: who said it, as the statement calls them.
        pronouns: theirs.
        dates: what was put in place of phrases of time that are over; none where nothing is over.
    """
    text = _THERE_ARE.sub(r"\g<there> are ", text)
    text = _SPELLED.sub(r"\g<a>n ", _NAMED.sub(r"\g<whose> is called \g<name>", write_out(text)))
    text = drop_emphasis(drop_lately(drop_remark(text)), who)
    return place_date(name_speaker_first(text, who, pronouns) if who else text, dates, who)
