"""How subjects, values and claims are compared: one spelling for what a reader takes for the same.

Two writings get one form when a person would read them alike: case, width, look-alike letters of other scripts, signs
that are not seen, articles, quotes, numbers as words or digits, dates, units, telephone numbers and e-mail addresses.
The form is for comparing only and is never shown.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Mapping
from datetime import date
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from core.types.belief import ClaimDraft

_LONGEST = 512
_ROUNDS = 4
_QUOTES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "`": "'", "´": "'", "“": '"', "”": '"', "„": '"', "«": '"'})
_DASHES = re.compile("[\u2010-\u2015\u2212]")
_THOUSANDS = re.compile(r"(?<![\d.,])(\d{1,3})(?:[,' \u00a0](\d{3}))+(?![\d])")
_ORDINAL = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)\b")
_DECIMAL = re.compile(r"(?<![\d.,])(\d+)\.0+(?![\d.])")
_SIGN = re.compile(r"([€£$¥])\s*(\d[\d.]*[km]?)\b")
_THICK = re.compile(r"\b(\d+)(k|m)\b")
_JOINED = re.compile(r"\b(\d+(?:\.\d+)?)(mg|mcg|µg|ml|kg|g|km|cm|mm|eur|gbp|usd)\b")
_PHONE = re.compile(r"\(?\+?\(?\d[\d ()/.\-]{5,22}\d")
_ISO = re.compile(r"\d{4}-\d{2}(?:-\d{2})?")
_EDGES = "\"'.,;:!?()[]{}<>*_~ \t-/"
_WORD = re.compile(r"\S+")


@cache
def _load_data() -> dict[str, Any]:
    loaded = json.loads((files("resources") / "claims" / "normal.json").read_text("utf-8"))
    if not isinstance(loaded, dict):
        raise TypeError("normal.json holds one object")
    return loaded


@cache
def _lookalike_table() -> dict[int, str]:
    return {ord(sign): plain for sign, plain in _load_data()["lookalikes"].items()}


def fold_to_skeleton(text: str) -> str:
    """What is seen: NFKC, case folded, unseen signs left out, look-alike letters as the Latin ones.

    A word is folded only if it mixes scripts with Latin, or consists of look-alikes altogether: a Russian or Greek word
    with a letter of its own keeps its letters.
    """
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    plain = "".join(sign for sign in plain if unicodedata.category(sign) not in ("Cf", "Cc", "Cs") or sign.isspace())
    return _WORD.sub(_fold_lookalikes, plain.translate(_QUOTES))


def read_as_seen(text: str) -> str:
    """A text as a reader takes it, case kept: letter forms made plain, unseen signs left out, look-alikes replaced.

    For reading claims and comparing texts; what is stored and shown stays as it was written.

    Returns:
        The text itself where there is nothing of that kind in it.
    """
    if text.isascii():
        return text
    plain = unicodedata.normalize("NFKC", text)
    plain = "".join(sign for sign in plain if unicodedata.category(sign) not in ("Cf", "Cc", "Cs") or sign.isspace())
    return _WORD.sub(_fold_word_case, plain)


def strip_marks(text: str) -> str:
    """A text without the marks on its letters: `é` as `e`."""
    if text.isascii():
        return text
    apart = unicodedata.normalize("NFKD", text)
    return unicodedata.normalize("NFC", "".join(sign for sign in apart if not unicodedata.combining(sign)))


def _fold_word_case(match: re.Match[str]) -> str:
    """A word in Latin letters where it passes for one."""
    word = match.group()
    if word.isascii():
        return word
    turned = "".join(_fold_sign_case(sign) for sign in word)
    return turned if _is_latin(turned) else word


def _fold_sign_case(sign: str) -> str:
    low = sign.lower()
    plain = _lookalike_table().get(ord(low)) if len(low) == 1 else None
    if plain is None:
        return sign
    return plain.upper() if sign != low else plain


def _fold_lookalikes(match: re.Match[str]) -> str:
    word = match.group()
    if word.isascii():
        return word
    turned = word.translate(_lookalike_table())
    marked = unicodedata.normalize("NFC", turned)
    return marked if _is_latin(marked) else word


def _is_latin(word: str) -> bool:
    """Whether every letter of the word is a Latin one."""
    return all(not sign.isalpha() or "LATIN" in unicodedata.name(sign, "") or sign == "µ" for sign in word)


def value_key(text: str) -> str:
    """The form in which subjects and values are compared; applying it again changes nothing.

    Args:
        text: a subject or value as written.

    Returns:
        Its key; the folded text itself where nothing but quotes or articles would be left.
    """
    return _stable_form(text) if len(text) <= _LONGEST else _plain_form(text)


def statement_key(draft: ClaimDraft) -> tuple[str, str, str, str]:
    """By what two drafts state the same: subject, predicate, value and polarity, whatever the conditions."""
    return value_key(draft.subject), draft.predicate, value_key(draft.value), draft.polarity


def claim_key(space_id: str, claim: Mapping[str, Any], scope_session: str = "") -> bytes:
    """The identity of what a claim says (seed C part 5, claim_key).

    Args:
        space_id: the space it holds in.
        claim: subject, predicate, value, polarity, qualifiers.
        scope_session: the session it is limited to, or "".

    Returns:
        32 bytes of SHA-256 over the canonical parts.
    """
    parts = [
        space_id,
        value_key(claim["subject"]),
        claim["predicate"],
        value_key(claim["value"]),
        claim["polarity"],
        json.dumps(claim["qualifiers"], sort_keys=True, separators=(",", ":"), ensure_ascii=False),
        scope_session,
    ]
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode("utf-8")).digest()


def key_of_draft(space_id: str, draft: ClaimDraft, scope_session: str = "") -> bytes:
    """`claim_key` of a draft."""
    statement = {
        "subject": draft.subject,
        "predicate": draft.predicate,
        "value": draft.value,
        "polarity": draft.polarity,
        "qualifiers": dict(draft.qualifiers),
    }
    return claim_key(space_id, statement, scope_session)


@lru_cache(maxsize=4096)
def _stable_form(text: str) -> str:
    # One pass may uncover what another pass reads (a quote within quotes); a few passes reach a form that stays. What
    # does not come to rest within them is compared by its plain folding, which does.
    seen = text
    for _ in range(_ROUNDS):
        form = _normalize_once(seen)
        if form == seen:
            return form
        seen = form
    return seen if _normalize_once(seen) == seen else _plain_form(text)


def _plain_form(text: str) -> str:
    return " ".join(fold_to_skeleton(" ".join(fold_to_skeleton(text).split())).split())


def _normalize_once(text: str) -> str:
    plain = " ".join(_DASHES.sub("-", fold_to_skeleton(text)).split())
    bare = plain.strip(_EDGES) or plain
    for reader in (_normalize_mail, _normalize_date, _normalize_phone):
        special = reader(bare)
        if special is not None:
            return special
    return _normalize_words(bare) or bare


def _normalize_mail(text: str) -> str | None:
    bare = text.removeprefix("mailto:")
    return bare if "@" in bare and " " not in bare else None


def _normalize_phone(text: str) -> str | None:
    if not _PHONE.fullmatch(text):
        return None
    digits = re.sub(r"\D", "", text)
    if len(digits) < 7 or re.fullmatch(r"\d+(?:[.,]\d+)?", text) or _THOUSANDS.fullmatch(text):
        return None
    return "+" + digits if text.lstrip("(").startswith("+") else _without_trunk(text, digits)


def _without_trunk(text: str, digits: str) -> str | None:
    if "." in text and text.count(".") > 1 and " " not in text and not digits.startswith("0"):
        return None  # a version such as 10.15.2024
    return "+" + digits[2:] if digits.startswith("00") else "tel:" + digits


def _month_number(word: str) -> int | None:
    data = _load_data()
    word = word.rstrip(".")
    short: dict[str, int] = data["shortmonths"]
    return data["months"].index(word) + 1 if word in data["months"] else short.get(word)


def _normalize_date(text: str) -> str | None:
    """`9 November 1987`, `Nov 9th, 1987`, `1987-11-09`, `09.11.1987` to ISO; a month with a year to `1987-11`."""
    if _ISO.fullmatch(text):
        return text
    if dotted := re.fullmatch(r"(\d{1,2})\.(\d{1,2})\.(\d{4})", text):
        return _iso_date(dotted[3], int(dotted[2]), dotted[1])
    words = _ORDINAL.sub(r"\1", text).replace(",", " ").split()
    words = [word for word in words if word not in ("the", "of")]
    months = [number for word in words if (number := _month_number(word))]
    rest = [word for word in words if not _month_number(word)]
    if len(months) != 1 or not rest or not all(word.isascii() and word.isdigit() for word in rest):
        return None
    years = [word for word in rest if len(word) == 4]
    days = [word for word in rest if len(word) <= 2]
    if len(rest) > 2 or len(years) > 1 or len(days) > 1 or len(years) + len(days) != len(rest):
        return None
    return _iso_date(years[0] if years else "", months[0], days[0] if days else "")


def _iso_date(year: str, month: int, day: str) -> str | None:
    if not day:
        return f"{year}-{month:02d}" if year else None
    try:
        date(int(year or 2000), month, int(day))
    except ValueError:
        return None
    return f"{year}-{month:02d}-{int(day):02d}" if year else f"{int(day)} {_load_data()['months'][month - 1]}"


def _normalize_words(text: str) -> str:
    text = _THOUSANDS.sub(lambda match: re.sub(r"\D", "", match.group()), _ORDINAL.sub(r"\1", text))
    text = _SIGN.sub(_move_sign_last, text)
    text = _JOINED.sub(r"\1 \2", _THICK.sub(_expand_thousands, _DECIMAL.sub(r"\1", text)))
    words = [word.strip("\"',;:!?()[]") for word in text.split()]
    words = [word for word in words if word]
    while len(words) > 1 and words[0] in _load_data()["articles"]:
        words = words[1:]
    units = _load_data()["units"]
    return " ".join(units.get(word, word) for word in _replace_number_words(words)).strip(_EDGES)


def _move_sign_last(match: re.Match[str]) -> str:
    return f"{match[2]} {match[1]}"


def _expand_thousands(match: re.Match[str]) -> str:
    return match[1] + ("000" if match[2] == "k" else "000000")


def _replace_number_words(words: list[str]) -> list[str]:
    """Number words as digits: `twenty-one`, `two hundred and five`, `4 thousand`."""
    out: list[str] = []
    at = 0
    while at < len(words):
        number, after = _read_number(words, at)
        if number is None:
            out.append(words[at])
            at += 1
        else:
            out.append(str(number))
            at = after
    return out


def _read_number(words: list[str], at: int) -> tuple[int | None, int]:
    data = _load_data()
    total: int | None = None
    part = 0
    start = at
    while at < len(words):
        value = _read_small_number(words[at])
        scale = data["scales"].get(words[at])
        if value is not None and (part % 100 == 0 or (part % 100 >= 20 and part % 10 == 0 and value < 10)):
            if part and part % 100 == 0 and part < 100:
                break
            part, total = part + value, total or 0
        elif scale and total is not None and part:
            part, total = (part * scale, total) if scale == 100 else (0, total + part * scale)
        elif not (
            words[at] == "and"
            and part
            and part % 100 == 0
            and at + 1 < len(words)
            and _read_small_number(words[at + 1])
        ):
            break
        at += 1
    if total is None:
        return None, start
    return total + part, at


def _read_small_number(word: str) -> int | None:
    numbers: dict[str, int] = _load_data()["numbers"]
    if word in numbers:
        return numbers[word]
    tens, dash, ones = word.partition("-")
    if dash and numbers.get(tens, 0) >= 20 and 0 < numbers.get(ones, 0) < 10:
        return numbers[tens] + numbers[ones]
    return int(word) if word.isascii() and word.isdigit() and len(word) <= 3 and str(int(word)) == word else None
