"""How a text feels, by markers: valence, intensity, arousal (E37.1, clamped as in X26).

Must not do: ask a model, or know a vault.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib.resources import files

VALENCE, INTENSITY = 0.15, 0.1
"""What one marker is worth (E37.1)."""
EMPHASIS, URGENCY, CORRECTION, FIRST = 0.1, 0.15, 0.25, 0.2
"""What emphasis, urgency, a correction and a first occurrence add to the intensity (E37.1)."""

_WORD = re.compile(r"[\w'’-]+")
_BANGS = re.compile(r"!{2,}")
_BOLD = re.compile(r"\*\*[^*\n]{1,80}\*\*")
_CAPITALS = re.compile(r"(?<![\w'-])[A-Z]{2,}(?![\w'-])")
_REACH = 3  # words before a marker in which a negation takes it out


class TaskOutcome(StrEnum):
    """How a task ended, where somebody says so."""

    SUCCESS = "success"
    PARTIAL = "partial"
    FAILURE = "failure"
    RETRY = "retry"


_OUTCOMES = {
    TaskOutcome.SUCCESS: (0.3, 0.2),
    TaskOutcome.PARTIAL: (0.1, 0.0),
    TaskOutcome.FAILURE: (-0.3, 0.3),
    TaskOutcome.RETRY: (-0.15, 0.15),
}


@dataclass(frozen=True, slots=True)
class Affect:
    """The feeling of a text.

    Attributes:
        valence: -1 (bad) to 1 (good).
        intensity: 0 to 1.
        signals: what was counted: name to how often.
    """

    valence: float
    intensity: float
    signals: dict[str, int] = field(default_factory=dict)

    @property
    def arousal(self) -> float:
        """|valence| * intensity, both clamped first (X26); 0 to 1."""
        return abs(self.valence) * self.intensity


def affect_of(
    text: str, *, outcome: TaskOutcome | None = None, is_correction: bool = False, is_first: bool = False
) -> Affect:
    """Weigh a text's markers.

    Args:
        outcome: how the task it speaks of ended, where that is known.
        is_correction: whether it corrects somebody.
        is_first: whether it is the first of its kind.

    Returns:
        Its feeling.
    """
    counts = _counted(text)
    counts |= {"correction": int(is_correction), "first": int(is_first)}
    good, bad = counts["positive"], counts["negative"]
    valence, intensity = (good - bad) * VALENCE, (good + bad) * INTENSITY
    intensity += counts["emphasis"] * EMPHASIS + counts["urgent"] * URGENCY
    intensity += counts["correction"] * CORRECTION + counts["first"] * FIRST
    if outcome is not None:
        more = _OUTCOMES[outcome]
        valence, intensity = valence + more[0], intensity + more[1]
    signals = {name: count for name, count in counts.items() if count}
    return Affect(min(1.0, max(-1.0, valence)), min(1.0, max(0.0, intensity)), signals)


@dataclass(frozen=True, slots=True)
class _Markers:
    pattern: re.Pattern[str]
    kinds: dict[str, str]
    negators: frozenset[str]
    emphatic: frozenset[str]


def _counted(text: str) -> dict[str, int]:
    markers = _markers()
    counts = {"positive": 0, "negative": 0, "urgent": 0, "emphasis": 0}
    plain = text.lower().replace("’", "'")
    for match in markers.pattern.finditer(plain):
        before = _WORD.findall(_clause(plain[max(0, match.start() - 40) : match.start()]))[-_REACH:]
        if not markers.negators.intersection(before):
            counts[markers.kinds[match.group()]] += 1
    counts["emphasis"] = len(_BANGS.findall(text)) + len(_BOLD.findall(text)) + _shouted(text, markers)
    return counts


def _clause(before: str) -> str:
    """What stands before a marker in its own clause: a negation does not reach over a mark."""
    return re.split(r"[.,;:!?\n]", before)[-1]


def _shouted(text: str, markers: _Markers) -> int:
    """Words in capitals that are no abbreviation: `REALLY`, `NEVER`, `BROKEN`."""
    words = (match.group().lower() for match in _CAPITALS.finditer(text))
    felt = ("positive", "negative")
    return sum(word in markers.emphatic or markers.kinds.get(word) in felt for word in words)


@cache
def _markers() -> _Markers:
    data = json.loads((files("resources") / "enrich" / "affect.json").read_text("utf-8"))
    kinds = {word: kind for kind in ("positive", "negative", "urgent") for word in data[kind].split("; ")}
    longest = sorted(kinds, key=lambda word: (-len(word), word))
    pattern = re.compile(r"(?<![\w'-])(?:" + "|".join(map(re.escape, longest)) + r")(?![\w'-])")
    return _Markers(pattern, kinds, frozenset(data["negators"].split()), frozenset(data["emphatic"].split()))
