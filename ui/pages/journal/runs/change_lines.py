"""What the next run would do, as lines: each deed with its memory, why, and the memory it concerns besides.

Must not do: ask the engine.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.types.lifecycle import Deed, PreviewItem
from core.types.values import Kind
from ui.pages.journal.common.job_words import deed_words
from ui.pages.journal.common.lines import Entry
from ui.strings import format_count, journal_strings
from ui.widgets.plaintext import one_line

ALL = ""
UNITED = frozenset({Deed.STACK, Deed.MERGE, Deed.CORROBORATE, Deed.DIGEST})
"""Deeds on several memories at once: keeping is about all of them."""
SPARED = UNITED | {Deed.FADE, Deed.EXPIRE, Deed.ARCHIVE}
"""What the person can put off: it ends in the archive, sooner or later, or lays memories together."""
STANDING = frozenset(Deed) - {Deed.ERASE}
"""Deeds on memories that stand: these can be pinned, and said to be true."""
_TEXT, _OTHER = 300, 120
_LINES = 2
_INKS = {Deed.ERASE: "danger", Deed.EXPIRE: "warning", Deed.ASK: "warning"}


def deed_entries(items: Sequence[PreviewItem], deed: str = ALL) -> list[Entry]:
    """Lines of a plan.

    Args:
        items: the deeds, strongest first.
        deed: a value of `Deed` to list only these; `ALL` for all.
    """
    return [_entry(item) for item in items if deed in (ALL, item.planned.deed.value)]


def _entry(item: PreviewItem) -> Entry:
    planned = item.planned
    said = deed_words(planned.deed.value)
    measure = journal_strings()["measures"].get(planned.reason, said["measure"])
    return Entry(
        id=f"{planned.deed.value}:{planned.memory_id}",
        head=one_line(item.text, _TEXT),
        note=item.words,
        beside=beside(item),
        icon=said["icon"],
        ink=_INKS.get(planned.deed, "muted"),
        word=said["word"],
        kind=Kind(item.kind),
        aside=f"{planned.value:.2f}" if measure and planned.value else "",
        aside_note=measure if planned.value else "",
        lines=_LINES,
        value=item,
    )


def beside(item: PreviewItem) -> str:
    """The other memories of a deed: `With “…” and 3 more`; "" where there are none.

    Args:
        item: the deed.
    """
    if not item.other_texts:
        return ""
    said, more = journal_strings()["next"], max(len(item.planned.others), len(item.other_texts)) - 1
    text = one_line(item.other_texts[0], _OTHER)
    return str(said["beside_more" if more else "beside"]).format(text=text, count=f"{more:,}")


def offered(chosen: Sequence[Entry]) -> frozenset[str]:
    """Acts that make sense for deeds that are chosen.

    Args:
        chosen: lines of `deed_entries`.
    """
    deeds = {entry.value.planned.deed for entry in chosen}
    if not deeds:
        return frozenset()
    acts = {"open"}
    if deeds <= SPARED:
        acts.add("spare")
    if deeds <= STANDING:
        acts.add("pin")
        if len(chosen) == 1:
            acts.add("confirm")
    return frozenset(acts)


def kept_ids(chosen: Sequence[Entry]) -> tuple[str, ...]:
    """The memories that keeping is about: of what lays memories together all of them.

    Args:
        chosen: lines of `deed_entries`.
    """
    found: dict[str, None] = {}
    for entry in chosen:
        planned = entry.value.planned
        found[planned.memory_id] = None
        if planned.deed in UNITED:
            found.update(dict.fromkeys(planned.others))
    return tuple(found)


def kept_told(chosen: Sequence[Entry]) -> str:
    """What was done by keeping, as a sentence.

    Args:
        chosen: lines of `deed_entries`.
    """
    form = "left" if any(entry.value.planned.deed in UNITED for entry in chosen) else "spared"
    return format_count(journal_strings()["next"][form], len(kept_ids(chosen)))
