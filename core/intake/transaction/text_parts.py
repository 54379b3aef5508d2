"""A text as the parts it is stored in: one, or several linked ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from core.memory.draft import Draft
from core.text.sentences import split_text
from core.types.values import When

PART_BYTES = 8 * 1024  # design section 8: longer texts are split at sentence bounds, parts linked


@dataclass(frozen=True, slots=True)
class SplitDraft:
    """A draft cut into parts.

    Attributes:
        drafts: one draft, or the linked parts in order; the first is the head.
    """

    drafts: tuple[Draft, ...]

    @property
    def head(self) -> Draft:
        """The part whose id stands for the whole."""
        return self.drafts[0]


def cut_text(text: str, places: Sequence[int] = ()) -> tuple[str, ...]:
    """The parts a text is stored in; joined they are the same characters.

    Args:
        places: where a part has to begin besides 0, rising, in characters: there another date begins.

    Returns:
        One or more texts of at most 8 KiB.
    """
    bounds = [0, *places, len(text)]
    return tuple(part for start, end in pairwise(bounds) for part in split_text(text[start:end], PART_BYTES))


def split_draft(
    draft: Draft, texts: Sequence[str], make_id: Callable[[], str], times: Sequence[When | None] | None = None
) -> SplitDraft:
    """Turn a draft of a long text into linked drafts.

    Args:
        draft: the draft with the whole text.
        texts: its parts, from `cut_text`.
        make_id: makes ids for the parts after the head.
        times: when each part was said; None where all were when the draft was.

    Returns:
        The linked parts.
    """
    if len(texts) == 1:
        return SplitDraft((draft,))
    return SplitDraft(
        tuple(
            replace(
                draft,
                id=draft.id if place == 0 else make_id(),
                text=text,
                part_of=draft.id,
                part_index=place,
                occurred=draft.occurred if times is None else times[place],
                chain_id=draft.chain_id or draft.id,
            )
            for place, text in enumerate(texts)
        )
    )
