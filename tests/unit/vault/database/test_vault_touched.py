"""What a transaction touched: first images, no counters, and nothing of an attempt that was taken back."""

from __future__ import annotations

from core.vault.database.tx import TouchedMemories


def test_the_first_image_counts() -> None:
    touched = TouchedMemories()
    touched.note_row("memories", {"id": "a"}, None)
    touched.note_row("memories", {"id": "a"}, {"id": "a", "status": "active"}, ["status"])
    touched.note_row("memories", {"id": "b"}, {"id": "b", "status": "active"}, ["status"])
    touched.note_row("spaces", {"id": "s"}, None)
    touched.note_row("verdicts", {"memory_id": "c"}, None)
    assert touched.before == {"a": None, "b": {"status": "active"}}
    assert list(touched.beside) == ["c"]


def test_counters_touch_nothing() -> None:
    touched = TouchedMemories()
    touched.note_row("memories", {"id": "a"}, {"id": "a"}, ["access_count", "last_accessed_at"])
    assert touched.before == {}
    touched.note_row("memories", {"id": "a"}, {"id": "a"}, ["access_count", "status"])
    assert list(touched.before) == ["a"]


def test_what_was_taken_back_is_forgotten() -> None:
    touched = TouchedMemories()
    touched.note_row("memories", {"id": "a"}, {"id": "a"})
    size = touched.size
    touched.note_row("memories", {"id": "a"}, {"id": "a"})
    touched.note_row("memories", {"id": "b"}, None)
    touched.note_row("rules", {"memory_id": "c"}, None)
    touched.cut_to_size(size)
    assert (list(touched.before), list(touched.beside)) == (["a"], [])


def test_many_that_stood_alike_are_kept_once_and_without_their_texts() -> None:
    touched = TouchedMemories()
    for number in range(3):
        row = {"id": str(number), "text": "A long text. " * 100, "status": "active", "space_id": "home", "extra": "{}"}
        touched.note_row("memories", row, row)
    first, second, third = touched.before.values()
    assert first is second is third
    assert first == {"status": "active", "space_id": "home", "extra": "{}"}
