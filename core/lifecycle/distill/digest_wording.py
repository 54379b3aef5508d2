"""A model's wording of digests: the same statements in fewer words, kept as the digest's summary.

The digest itself stays as it was put together, sentence by sentence out of its sources: so its run can be undone, and
each sentence can be shown where it came from. The wording is derived and goes when the text changes. Must not do: keep
a wording that adds, drops or turns anything, or ask about a digest twice.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from core import log
from core.belief.relate.coverage import is_exhausted_by
from core.errors import Code, LociError
from core.lifecycle.kit.job_context import BatchResult, JobContext
from core.llm.distillate import reword_prompt
from core.llm.prompts import find_json
from core.memory.write import write_summary
from core.text.sentences import split_sentences
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

ABSENT = frozenset({Code.EMBEDDER_UNAVAILABLE, Code.VAULT_LOCKED, Code.CANCELLED})
"""The model, or the vault, is gone: what was asked about is not to blame and waits."""

NOTE = "reworded"
"""A key of `settings`: the label of the last digest a model was asked about."""

SHORTER = 0.8
"""A wording has at most this share of the digest's characters: else the summary of rules is the better one."""

_AT_ONCE = 5
_WAITING = (
    "SELECT m.n, m.id, m.text FROM memories m WHERE m.kind = 'digest' AND m.status = 'active' "
    "AND m.security_tier = 'cleartext' AND m.n > ? "
    "AND EXISTS (SELECT 1 FROM tiers t WHERE t.memory_id = m.id AND t.tier = 'tag') ORDER BY m.n LIMIT ?"
)
_log = log.get("lifecycle")


@dataclass(frozen=True, slots=True)
class DigestWording:
    """One digest and what a model made of it.

    Attributes:
        n: the digest's label.
        text: as the model read it.
        words: the wording; None where there is none that may be kept.
    """

    n: int
    memory_id: str
    text: str
    words: str | None


@dataclass(frozen=True, slots=True)
class WordedBatch:
    """A few digests that a model was asked about."""

    all: tuple[DigestWording, ...]


def reword_digest(ground: JobContext, statements: list[str]) -> str | None:
    """Ask the model to say statements in one short paragraph.

    Args:
        ground: what the job stands on.
        statements: sentences.

    Returns:
        The paragraph, if it says every one of them in its own words and nothing else; None otherwise, and where there
        is no model or there is too much for one question.

    Raises:
        LociError: the model did not answer.
    """
    prompt = reword_prompt(statements)
    if ground.ask is None or prompt is None:
        return None
    value = find_json(ground.ask(prompt))
    text = value.get("text") if isinstance(value, dict) else None
    if not isinstance(text, str) or not is_exhausted_by(text.strip(), statements):
        return None
    return text.strip()


def prepare_wordings(ground: JobContext) -> WordedBatch | None:
    """Ask about the next few digests; nothing is written.

    Args:
        ground: what the job stands on.

    Returns:
        What came of it; None where none waits, or the model is gone.
    """
    waiting: list[tuple[int, str, str]] = ground.read(_waiting)
    found: list[DigestWording] = []
    for n, memory_id, text in waiting:
        if ground.is_stopped():
            break
        try:
            words = reword_digest(ground, [text[start:end].strip() for start, end in split_sentences(text)])
        except LociError as error:
            if error.code in ABSENT:
                break
            _log.info("a digest could not be reworded: %s", error.code.value)
            words = None
        short = words is not None and len(words) <= SHORTER * len(text)
        found.append(DigestWording(n, memory_id, text, words if short else None))
    return WordedBatch(tuple(found)) if found else None


def write_wordings(tx: Tx, worded: WordedBatch) -> BatchResult:
    """Keep the wordings of digests that are as the model read them.

    Args:
        worded: from `prepare_wordings`.

    Returns:
        The count `reword_digest`.
    """
    kept = 0
    for one in worded.all:
        held = tx.one("SELECT text FROM memories WHERE id = ? AND status = 'active'", (one.memory_id,))
        if one.words is not None and held is not None and held[0] == one.text:
            kept += write_summary(tx, one.memory_id, one.words)
    tx.run(
        "INSERT INTO settings (key, value, changed_at) VALUES (?, ?, ?) "
        "ON CONFLICT (key) DO UPDATE SET value = excluded.value, changed_at = excluded.changed_at",
        (NOTE, json.dumps(worded.all[-1].n), tx.now_ms),
    )
    return BatchResult(len(worded.all), {"reworded": kept} if kept else {})


def count_wording_backlog(rows: Rows) -> int:
    """How many digests a model was not asked about."""
    return len(rows.all(_WAITING, (_last(rows), -1)))


def _waiting(rows: Rows) -> list[tuple[int, str, str]]:
    return [(int(n), str(memory_id), str(text)) for n, memory_id, text in rows.all(_WAITING, (_last(rows), _AT_ONCE))]


def _last(rows: Rows) -> int:
    found = rows.value("SELECT value FROM settings WHERE key = ?", (NOTE,))
    return 0 if found is None else int(json.loads(found))
