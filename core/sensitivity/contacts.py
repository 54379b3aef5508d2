"""Mail addresses and telephone numbers, each by its shape and by the words around it."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator

from core.sensitivity.passage import Passage, load_vocabulary
from core.types.sensitivity import SensitiveSpan, SensitiveType

_NEAR, _FAR = 22, 60
_DIGITS = range(7, 16)
_ALONE = ("international", "north_american", "pairs", "national", "bracketed", "local")
_AFTER_CUE = ("spanish", "short")


def find_emails(passage: Passage) -> Iterator[SensitiveSpan]:
    """Addresses of mailboxes, also spelled with `at` and `dot`; no places of a repository, no pinned packages."""
    told = load_vocabulary("contacts")
    if "@" in passage.lower:
        for match in told.pattern("email").finditer(passage.lower):
            before = passage.lower[max(0, match.start(1) - _FAR) : match.start(1)]
            refused = told.pattern("not_mail_domain").match(match[3]) or told.pattern("not_mail_before").search(before)
            if not refused or before.endswith("mailto:"):
                yield SensitiveSpan(match.start(1), match.end(), SensitiveType.EMAIL)
    if "dot" in passage.lower or "[at]" in passage.lower or "(at)" in passage.lower:
        for match in told.pattern("email_spoken").finditer(passage.lower):
            if told.pattern("spoken_dot").search(match[2]) or "at " not in match[0]:
                yield SensitiveSpan(match.start(), match.end(), SensitiveType.EMAIL)


def find_phones(passage: Passage) -> Iterator[SensitiveSpan]:
    """Full numbers of subscribers: of a shape that says so, or any beside a word that does."""
    told = load_vocabulary("contacts")
    for match in told.pattern("phone_run").finditer(passage.plain):
        run = _trim_run(match[0])
        start = match.start() + match[0].index(run) if run else 0
        end = start + len(run)
        if run and not _is_inside_word(passage, end) and _is_phone(passage, run, start, end):
            extension = told.pattern("extension").match(passage.lower[end : end + _NEAR])
            yield SensitiveSpan(start, end + (extension.end() if extension else 0), SensitiveType.PHONE)


def _trim_run(run: str) -> str:
    """A run of digits without what stands around it, and without a bracket that never closes or opens."""
    run = run.split("  ")[0].rstrip(" ()./-")
    if run.startswith("(") and ")" not in run:
        run = run[1:]
    return run[1:] if run.startswith("((") else run


def _is_inside_word(passage: Passage, end: int) -> bool:
    following = passage.plain[end : end + 2]
    return bool(following) and (
        following[0].isalnum() or following[0] in "_@%" or (following[0] == ":" and following[1:].isdigit())
    )


def _is_phone(passage: Passage, run: str, start: int, end: int) -> bool:
    told = load_vocabulary("contacts")
    digits = sum(sign.isdigit() for sign in run)
    if (
        digits not in _DIGITS
        or told.pattern("date").match(run)
        or told.pattern("unit").match(passage.after(end, _NEAR))
    ):
        return False
    if told.pattern("international").match(run) and run.startswith(("+", "(+")):
        return True
    before, after = passage.before(start, _FAR), passage.after(end, _FAR)
    cue = _last_match(told.pattern("cue"), before)
    cued_behind = told.pattern("cue").search(after[: _NEAR * 2]) is not None
    refused = told.pattern("not_cue").search(before[-_NEAR:])
    # Of two words before it the nearer one says what a number is.
    if refused and (cue is None or cue.start() < max(0, len(before) - _NEAR) + refused.start()):
        return False
    if not refused and told.pattern("number_is").search(before):
        return True
    if any(told.pattern(name).match(run) for name in _ALONE):
        return cue is not None or cued_behind or not told.pattern("not_cue").search(after[:_NEAR])
    if any(told.pattern(name).match(run) for name in _AFTER_CUE) and told.pattern("weak").search(before[-_NEAR:]):
        return True
    return cue is not None or (cued_behind and not run.isdigit())


def _last_match(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    return deque(pattern.finditer(text), maxlen=1).pop() if pattern.search(text) else None
