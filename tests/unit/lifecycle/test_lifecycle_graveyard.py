"""The graveyard: pages of what is archived, with reason, end, and whether it can come back."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import pytest
from decay_rig import DAY_MS, put
from engine_rig import START_MS, Rig, refused
from ground_rig import ground_of

from core.errors import Code
from core.lifecycle.archive import erased_kinds, read_archive_page
from core.types.lifecycle import ArchivePage
from core.types.values import Kind, Status
from core.types.views import Revision


def page(rig: Rig, after: str | None = None, limit: int = 100, **options: Any) -> ArchivePage:
    known = ground_of(rig, options).options
    return rig.opened.storage.vault.read(lambda rows: read_archive_page(rows, after, limit, known))


def bury(rig: Rig, name: str, days: float, **more: Any) -> str:
    """Something that was archived so many days ago."""
    at = START_MS - int(days * DAY_MS)
    return put(rig, name, days=days + 100, **{"status": "archived", "status_reason": "faded", "retired_at": at, **more})


def test_the_last_archived_comes_first_page_by_page(rig: Rig) -> None:
    for number in range(7):
        bury(rig, f"m{number}", days=10 - number // 2)  # several at one time
    put(rig, "stands")
    whole = page(rig)
    assert [row.id for row in whole.rows] == ["m6", "m5", "m4", "m3", "m2", "m1", "m0"]
    assert (whole.total, whole.next) == (7, None)
    seen: list[str] = []
    after: str | None = None
    for _ in range(4):
        part = page(rig, after, 2)
        seen += [row.id for row in part.rows]
        assert part.total == 7
        after = part.next
    assert after is None
    assert seen == [row.id for row in whole.rows]


def test_a_row_tells_why_it_left_and_whether_it_can_come_back(rig: Rig) -> None:
    put(rig, "new")
    bury(rig, "faded", 1)
    bury(rig, "old", 2, status_reason="replaced", superseded_by_id="new")
    bury(rig, "absorbed", 3, consolidated_into="new", status_reason="consolidated_note", kind="episode")
    bury(rig, "unsaid", 4, status_reason=None)
    bury(
        rig, "twin", 5, text="text of new", content_hash=rig.value("SELECT content_hash FROM memories WHERE id = 'new'")
    )
    rows = {row.id: row for row in page(rig).rows}
    assert {name: (row.reason, row.can_return) for name, row in rows.items()} == {
        "faded": ("faded", True),
        "old": ("old_version", False),
        "absorbed": ("consolidated_note", False),
        "unsaid": ("archived", True),
        "twin": ("faded", False),
    }
    faded = rows["faded"]
    assert (faded.text, faded.kind, faded.space) == ("text of faded", "fact", "home")
    assert (faded.archived_at, faded.erased_at) == (START_MS - DAY_MS, None)
    back = rig.engine.library.revise_memories(list(rows), Revision(status=Status.ACTIVE)).result(30)
    assert back.changed == sum(row.can_return for row in rows.values())


def test_the_day_of_erasure_is_told_for_the_kinds_that_are_erased(rig: Rig) -> None:
    bury(rig, "fact", 1)
    bury(rig, "episode", 1, kind="episode")
    rows = {row.id: row.erased_at for row in page(rig, erase_kinds="Episode , nothing", erase_days=30).rows}
    assert rows == {"fact": None, "episode": START_MS + 29 * DAY_MS}
    known = ground_of(rig, {"erase_kinds": " FACT,rule,,wall"}).options
    assert erased_kinds(known) == {Kind.FACT, Kind.RULE}


def test_a_split_text_is_one_row_and_a_long_one_is_cut(rig: Rig) -> None:
    bury(rig, "head", 1, text="x" * 900)
    bury(rig, "tail", 1, part_of="head", part_index=1)
    found = page(rig)
    assert ([row.id for row in found.rows], found.total) == (["head"], 1)
    assert found.rows[0].text == "x" * 300


@pytest.mark.parametrize(
    ("after", "limit"), [("x", 10), ("1.", 10), ("1.2.3", 10), ("9" * 50 + ".1", 10), (None, 0), (None, 501)]
)
def test_a_page_that_is_none_is_refused(rig: Rig, after: str | None, limit: int) -> None:
    with refused(Code.INVALID_INPUT):
        page(rig, after, limit)


def test_every_reason_a_memory_is_archived_for_has_its_sentence() -> None:
    words = json.loads((files("resources") / "help" / "lifecycle.json").read_text(encoding="utf-8"))
    reasons = (
        "faded", "expired", "doubted", "old_version", "consolidated_note", "over_capacity", "rejected",
        "rejected_before", "overtaken", "outdated", "removed", "archived", "hidden_at_source", "unanswered",
    )  # fmt: skip
    assert all(words[reason].endswith(".") for reason in reasons)
    assert list(words) == sorted(words)
