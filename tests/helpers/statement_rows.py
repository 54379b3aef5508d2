"""Statements and readings as rows, as a run of the reader leaves them, for tests of what shows them."""

from __future__ import annotations

from typing import Any

from engine_rig import Rig

from core.types.values import Kind


def told(rig: Rig, about: str, text: str, kind: str, source: str, **more: Any) -> tuple[str, str]:
    """A statement of an episode.

    Args:
        source: the text of the episode; all of it is the quote.
        **more: columns of the episode.

    Returns:
        Ids of the statement and of the episode.
    """
    episode = str(rig.store(source, kind=Kind.EPISODE).memory_id)
    statement = str(rig.store(text, kind=Kind.FACT).memory_id)
    link(rig, statement, episode, about, kind, len(source))
    if more:
        rig.write(
            lambda tx: tx.run(
                f"UPDATE memories SET {', '.join(f'{name} = ?' for name in more)} WHERE id = ?",  # noqa: S608 - a test's own columns
                (*more.values(), episode),
            )
        )
    return statement, episode


def link(rig: Rig, statement: str, episode: str, about: str, kind: str, size: int) -> None:
    """Let an episode say a statement."""
    row = {"memory_id": statement, "episode_id": episode, "start_at": 0, "end_at": size, "about": about, "type": kind}
    more = {"lasting": 1, "confidence": 0.9, "operation": "ADD", "made_by": "reader"}
    rig.write(lambda tx: tx.insert("statements", {**row, **more}))


def mark_small_talk(rig: Rig, memory_id: str) -> None:
    """Mark an episode as read and worth nothing."""
    row = {"memory_id": memory_id, "version": "1", "content_hash": bytes(32), "small_talk": 1, "at": 1}
    rig.write(lambda tx: tx.insert("readings", row))
