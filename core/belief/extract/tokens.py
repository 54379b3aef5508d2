"""Words of a sentence with their places in the text: what the reading of claims steps over.

Nothing here searches back and forth: a text is read once, sign by sign, and a sentence is cut at `MOST_TOKENS` words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from core.belief.extract.vocabulary import word_lists

MOST_TOKENS = 160
_TOKEN = re.compile(
    r"""[^\W\d_]+n['’]t\b                                  # don't, isn't
    | \d+(?:[.,:/]\d+)*(?:[-\w%]*[\w%])?                     # 46, 5.2.0, 20mg, 12-year-old
    | [OD]['’](?=[A-Z])[^\W\d_]+                             # O'Neill
    | [^\W_](?:\w|[-.&+/](?=\w))*                            # words, names, Node.js, AT&T
    | ['’](?:s|m|re|ve|ll|d)\b
    | \S""",
    re.VERBOSE,
)
_MAIL = re.compile(r"[\w.%+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}")
_QUOTED = re.compile("“[^“”]{1,300}”|\"[^\"]{1,300}\"|(?<!\\w)['‘][^'‘’\n]{1,200}['’](?!\\w)")
_EXPAND = {"im": ("i", "'m"), "ive": ("i", "'ve"), "i'm": ("i", "'m"), "id": ("i", "'d")}
_PLAIN = {"dont": "don't", "cant": "can't", "doesnt": "doesn't", "isnt": "isn't", "wont": "won't", "didnt": "didn't"}


@dataclass(slots=True)
class ClaimToken:
    """One word or mark.

    Attributes:
        text: as written.
        low: folded for comparing.
        start: where it begins in the text; `end` is exclusive.
        hidden: whether it belongs to a quotation or to a phrase of time, and is not to be read as a word.
        quoted: whether it stands in a longer quotation.
    """

    text: str
    low: str
    start: int
    end: int
    hidden: bool = False
    quoted: bool = False

    @property
    def word(self) -> bool:
        """Whether it is a word or a number, not a mark."""
        return self.text[:1].isalnum()

    @property
    def cap(self) -> bool:
        """Whether it begins with a capital."""
        return self.text[:1].isupper()


@dataclass(slots=True)
class TokenizedSentence:
    """The words of one sentence.

    Attributes:
        text: the whole text it stands in.
        start: where it begins; `end` is exclusive.
        tokens: its words and marks.
        lower: whether it holds no capital at all (a note typed in haste).
        begin: the first word after words that only lead in ("By the way,").
    """

    text: str
    start: int
    end: int
    tokens: list[ClaimToken]
    lower: bool = False
    begin: int = 0
    lows: list[str] = field(default_factory=list)

    def slice(self, first: int, after: int) -> str:
        """The text of the tokens from `first` up to before `after`."""
        return self.text[self.tokens[first].start : self.tokens[after - 1].end]


def read_sentence(text: str, start: int, end: int) -> TokenizedSentence:
    """Cut one sentence into words.

    Args:
        text: the whole text.
        start: where the sentence begins, code points.
        end: where it ends, exclusive.

    Returns:
        At most `MOST_TOKENS` of its words, with their places.
    """
    tokens: list[ClaimToken] = []
    mails = {match.start(): match.end() for match in _MAIL.finditer(text, start, end)} if "@" in text[start:end] else {}
    at = start
    while at < end and len(tokens) < MOST_TOKENS:
        if at in mails:
            stop = mails[at]
            while text[stop - 1] in ".-_":
                stop -= 1
            tokens.append(ClaimToken(text[at:stop], text[at:stop].lower(), at, stop))
            at = stop
            continue
        match = _TOKEN.match(text, at, end)
        if match is None:
            at += 1
            continue
        at = _append(tokens, match, mails)
    end = tokens[-1].end if tokens else start
    _quote(tokens, text, start, end)
    sentence = TokenizedSentence(text, start, end, tokens, lower=not any(sign.isupper() for sign in text[start:end]))
    sentence.lows = [token.low for token in tokens]
    sentence.begin = _lead_in(sentence)
    return sentence


def _append(tokens: list[ClaimToken], match: re.Match[str], mails: dict[int, int]) -> int:
    start, stop = match.span()
    inner = next((place for place in mails if start < place < stop), None)
    stop = stop if inner is None else inner
    text = match.string[start:stop]
    low = text.lower().replace("’", "'")
    if low in _EXPAND and (low != "id" or text == "Id"):
        first, second = _EXPAND[low]
        tokens += [ClaimToken(text, first, start, stop), ClaimToken("", second, stop, stop)]
    else:
        tokens.append(ClaimToken(text, _PLAIN.get(low, low), start, stop))
    return stop


def _quote(tokens: list[ClaimToken], text: str, start: int, end: int) -> None:
    for match in _QUOTED.finditer(text, start, end):
        inside = [token for token in tokens if match.start() < token.start < match.end() - 1]
        for token in inside:
            token.quoted = len(inside) > 3


def _lead_in(sentence: TokenizedSentence) -> int:
    """The first word that says something: behind bullets, "by the way," and the like."""
    at = 0
    lows = sentence.lows
    found = True
    while found and at < len(lows):
        found = False
        if not sentence.tokens[at].word and lows[at] not in ("'", '"', "(", "+"):
            at, found = at + 1, True
            continue
        phrase = word_lists().lead_in(lows, at)
        after = at + phrase
        if phrase and after < len(lows) and _leads(sentence, at, after):
            at, found = after, True
    return at if at < len(lows) else 0


def _leads(sentence: TokenizedSentence, at: int, after: int) -> bool:
    """A lead-in is set off by a mark, or stands before the speaker ("actually I ...")."""
    low = sentence.lows[after]
    if low in word_lists().sets["leads.marks"]:
        return True
    loose = sentence.lows[at] not in word_lists().sets["leads.set_off"]
    return loose and (low in word_lists().opener or sentence.lows[after - 1] in word_lists().sets["leads.joins"])
