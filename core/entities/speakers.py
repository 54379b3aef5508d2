"""Who speaks in a memory, and which short form of a name means which whole one. Pure: names in, names out.

What a format knows of the author is the speaker; the owner is one, whatever the format calls them. A short form
("Sam") means a whole name ("Samantha") of the same conversation where one such name alone can be meant; two who speak
are two, however alike their names. Must not do: read a vault, guess a speaker from what is said, or name an assistant.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cache

from rapidfuzz.distance import Levenshtein

from core.entities.recognition import MOST_NAME, is_first_name, name_key, name_vocabulary, read_short_names
from core.text.noun_phrases import is_noun
from core.text.terms import common_words, fold_case, fold_width, plain_words

OWNER_NAME = "You"
"""How the entity of the owner is called."""
SPEAKER_PLACE = (-1, 0)
"""Where the mention of a speaker stands: before the text."""
_LEAST_SHORT, _LEAST_END, _LEAST_CUT = 3, 4, 2  # "Sam" of "Samir"; "Ann" is no short form of "Anna"
_OWNER_WORDS = frozenset(("user", "human", "me", "myself", "you", "i", "owner"))


@dataclass(frozen=True, slots=True)
class Speaker:
    """Whose words a memory holds.

    Attributes:
        name: as written; of the owner `OWNER_NAME`.
        key: `name_key` of it.
        is_owner: whether it is the owner of the vault.
    """

    name: str
    key: str
    is_owner: bool = False


_LABEL = re.compile(r"[^\W\d_].*")
OWNER = Speaker(OWNER_NAME, name_key(OWNER_NAME), is_owner=True)


def speaker_of(role: str, author: str | None, owner_keys: Collection[str] = ()) -> Speaker | None:
    """Who speaks in one message of a conversation.

    Args:
        role: of `memories.role`.
        author: as its format told it.
        owner_keys: `name_key` of the names by which the vault knows its owner.

    Returns:
        The speaker; None for an assistant, a tool, a document, and for what is no name.
    """
    name = " ".join((author or "").split())
    key = name_key(name)
    if role == "user" or (role == "other" and (key in _OWNER_WORDS or key in owner_keys)):
        return OWNER
    if role != "other" or not key or len(name) > MOST_NAME or not fold_width(name).isprintable():
        return None
    is_word = any(sign.isalpha() for sign in key) and key not in speaker_words()
    # "archive" is where it was written; a person who writes their name small has one that is no common noun.
    is_thing = name.islower() and is_noun(key) and not is_first_name(name.title())
    return Speaker(name, key) if is_word and not is_thing else None


def speaker_label_place(text: str, start: int) -> tuple[int, int] | None:
    """Where the name stands before what somebody says: "[10:02] Mara: yes".

    Args:
        start: where the words begin, behind name and colon.

    Returns:
        From where to where; None where no colon stands before them.
    """
    colon = text.rfind(":", 0, start)
    if colon < 0 or text[colon + 1 : start].strip():
        return None
    line = max(text.rfind(sign, 0, colon) for sign in "\n])")
    found = _LABEL.search(text, line + 1, colon)
    return None if found is None else (found.start(), found.start() + len(found.group().rstrip()))


def is_thing_label(speaker: Speaker, role: str) -> bool:
    """Whether what stands before a colon names a thing said ("Created", "Opening hours"), and nobody.

    Args:
        role: of the memory; in notes and documents only a common first name is somebody.
    """
    if speaker.is_owner:
        return False
    is_plain = all(word in plain_words() or word in common_words() for word in speaker.key.split())
    return is_plain or (role == "source" and not is_first_name(speaker.name.split(" ", 1)[0]))


@cache
def speaker_words() -> frozenset[str]:
    """What stands where a speaker's name would and is none: "Note", "Q", "TODO", "system"; folded."""
    return frozenset(str(read_short_names()["labels"]).split())


def is_short_form(short: str, whole: str) -> bool:
    """Whether a name is a short form of a longer one: by the table, or as its beginning or end.

    Args:
        short: `name_key` of one word.
        whole: `name_key` of a name; its first word counts.
    """
    first = whole.split(" ", 1)[0]
    if not short or " " in short or short == first:
        return False
    if short in _load_forms().get(first, ()):
        return True
    is_cut = len(short) >= _LEAST_SHORT and len(first) - len(short) >= _LEAST_CUT and first.startswith(short)
    is_cut = is_cut or (len(short) >= _LEAST_END and len(first) - len(short) >= _LEAST_CUT and first.endswith(short))
    return is_cut and short not in _whole_names() and short not in common_words()


def find_whole_name(short: str, people: Iterable[str], speakers: Collection[str]) -> str | None:
    """Which name of a conversation a short form means.

    Args:
        short: key of the name as it is said.
        people: keys of the people whom the conversation names.
        speakers: keys of those who speak in it; they count as named.

    Returns:
        The one whole name that fits; where several do, the one that speaks, if it is one. None for a speaker's own
        name, which is nobody else's.
    """
    if short in speakers:
        return None
    fits = {one for one in (*people, *speakers) if is_short_form(short, one) or _is_first_name(short, one)}
    speaking = fits.intersection(speakers)
    candidates = fits if len(fits) == 1 else speaking
    return next(iter(candidates)) if len(candidates) == 1 else None


def find_misspelt(name: str, others: Collection[str]) -> str | None:
    """Whom somebody speaks to by a short form that is spelt with one letter more, less or other.

    Args:
        name: key of one word by which somebody is spoken to.
        others: keys of those who speak in the conversation beside the one who says it.

    Returns:
        The key of the one who is meant; None where nobody is, several are, or the name is a name of its own.
    """
    if len(name) < _LEAST_SHORT or " " in name or name in _whole_names() or name in _all_short_names():
        return None
    fits = [one for one in others if any(_is_near(name, form) for form in _forms_of(one))]
    return fits[0] if len(fits) == 1 else None


def _forms_of(whole: str) -> frozenset[str]:
    first = whole.split(" ", 1)[0]
    return _load_forms().get(first, frozenset()) | {first}


def _is_near(name: str, form: str) -> bool:
    return name[:1] == form[:1] and len(form) >= _LEAST_SHORT and Levenshtein.distance(name, form, score_cutoff=1) <= 1


@cache
def _all_short_names() -> frozenset[str]:
    return frozenset(short for forms in _load_forms().values() for short in forms)


def _is_first_name(short: str, whole: str) -> bool:
    """Somebody whose full name is told is called by the first: "Rosa" of "Rosa Castellanos"."""
    return " " in whole and whole.split(" ", 1)[0] == short


@cache
def _load_forms() -> dict[str, frozenset[str]]:
    forms: dict[str, str] = read_short_names()["forms"]
    return {whole: frozenset(short.split()) for whole, short in forms.items()}


@cache
def _whole_names() -> frozenset[str]:
    """First names that stand for themselves: no beginning of another name is read as one of these."""
    return frozenset(fold_case(name) for name in name_vocabulary().first_names)
