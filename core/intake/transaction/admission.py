"""What may be stored at all: limits of a text and its parts, echoes, what was erased for good.

Bad input gets one sentence with a code; nothing is trimmed or mended. An echo is a text that Loci handed out itself:
what comes back is not news (design section 4, echo guard). A tombstone is a keyed digest of what was erased, from which
nothing can be read: an import is known by the identity of its record, whatever became of the text, a text by its words,
folded, under a key of this vault alone; only the person lifts one, by typing the text again.

Must not do: keep an erased text, judge whether a text is true.
"""

from __future__ import annotations

import json
import secrets
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from core.errors import Code, UserError
from core.security.keys import keyed_digest
from core.text.sentences import split_text
from core.text.terms import fold_width
from core.types.values import When
from core.vault.database.rows import Rows, to_json
from core.vault.database.tx import Tx

if TYPE_CHECKING:
    from core.memory.write import Draft


TEXT, IDENTITY = "text", "identity"
"""`tombstones.kind`."""

_KEY = "tombstone_key"
_KEY_BYTES = 32
_LABEL = b"loci-tombstone-v1"
_BLINDED = b"loci-blinded-v1"
_ERASED = "SELECT digest FROM tombstones WHERE digest IN (SELECT unhex(value) FROM json_each(?))"


def fold_text(text: str) -> str:
    """A text as tombstones compare it: width, case and spaces do not matter.

    Returns:
        The folded text; "" for one of spaces alone.
    """
    return " ".join(fold_width(text).casefold().split())


def erased_digests(rows: Rows, digests: Sequence[bytes]) -> set[bytes]:
    """Which digests of texts or imported records have a tombstone.

    Args:
        digests: of identities (`core.intake.store.import_batch.identity_digest`) or of texts.
    """
    return {row[0] for row in rows.all(_ERASED, (to_json([one.hex() for one in digests]),))}


def erased_texts(rows: Rows, texts: Iterable[str]) -> set[str]:
    """Which texts were erased and may not be stored by anybody but the person.

    Args:
        texts: whole texts, as they came.

    Returns:
        Those of them that were erased; none where nothing ever was.
    """
    key = _read_tombstone_key(rows)
    if key is None:
        return set()
    digests = {text: _tombstone_digest(key, text) for text in texts}
    erased = erased_digests(rows, list(digests.values()))
    return {text for text, digest in digests.items() if digest in erased}


def write_tombstones(tx: Tx, texts: Iterable[str], identities: Iterable[bytes]) -> int:
    """Write tombstones for erased texts and records, so that they do not come back.

    Args:
        tx: the transaction of the erasure.
        texts: whole texts, and the parts of split ones; those of spaces alone are left out.
        identities: digests of imported records.

    Returns:
        How many digests there are.
    """
    key = _read_tombstone_key(tx) or _new_key(tx)
    kinds = {_tombstone_digest(key, text): TEXT for text in texts if fold_text(text)}
    kinds |= dict.fromkeys(identities, IDENTITY)
    tx.run_many(
        "INSERT OR IGNORE INTO tombstones (digest, kind, erased_at) VALUES (?, ?, ?)",
        [(digest, kind, tx.now_ms) for digest, kind in kinds.items()],
    )
    return len(kinds)


def erase_for_all(tx: Tx, memory_ids: Iterable[str]) -> None:
    """Memories were erased for good: no other device of the person brings them back (`core.intake.sync`).

    Args:
        tx: the transaction of the erasure; it does nothing where the vault is on this device alone.
    """
    tx.run_many(
        "UPDATE sync_rows SET presence = 2, is_pending = 1 WHERE tbl = 'memories' AND row_key = ?",
        [(one,) for one in memory_ids],
    )


def text_marks(rows: Rows, texts: Iterable[str]) -> list[str]:
    """What texts can be known again by, without being guessed: digests under the key of this vault, hexadecimal.

    Args:
        texts: whole texts, as they came; nothing was ever erased where the answer is empty.
    """
    key = _read_tombstone_key(rows)
    return [] if key is None else sorted({_tombstone_digest(key, text).hex() for text in texts if fold_text(text)})


def lift_tombstones(tx: Tx, texts: Iterable[str]) -> None:
    """Remove the tombstones of texts that the person says again: from now on anybody may store them.

    Args:
        texts: the whole text, and its parts.
    """
    key = _read_tombstone_key(tx)
    if key is None:
        return
    digests = to_json(sorted({_tombstone_digest(key, text).hex() for text in texts}))
    if tx.value("SELECT 1 FROM tombstones WHERE digest IN (SELECT unhex(value) FROM json_each(?)) LIMIT 1", (digests,)):
        tx.run("DELETE FROM tombstones WHERE digest IN (SELECT unhex(value) FROM json_each(?))", (digests,))


def lift_records(tx: Tx, identities: Iterable[bytes]) -> None:
    """Remove the tombstones of imported records whose memory is put back: their fingerprints identify them again."""
    tx.run_many("DELETE FROM tombstones WHERE digest = ? AND kind = ?", [(one, IDENTITY) for one in identities])


def blind_digest(rows: Rows, digest: bytes) -> bytes:
    """A digest of something that may hold an erased text, so that no more can be read from it than from a tombstone.

    Args:
        digest: of anything.

    Returns:
        32 bytes, under the key of this vault; the digest as it is where nothing was ever erased.
    """
    key = _read_tombstone_key(rows)
    return digest if key is None else keyed_digest(key, _BLINDED, digest)


def _tombstone_digest(key: bytes, text: str) -> bytes:
    return keyed_digest(key, _LABEL, fold_text(text).encode("utf-8", "surrogatepass"))


def _read_tombstone_key(rows: Rows) -> bytes | None:
    found = rows.value("SELECT value FROM settings WHERE key = ?", (_KEY,))
    return None if found is None else bytes.fromhex(json.loads(str(found)))


def _new_key(tx: Tx) -> bytes:
    """Made with the first erasure. It lies in the vault, not with the root: tombstones outlive another root."""
    key = secrets.token_bytes(_KEY_BYTES)
    row = (_KEY, json.dumps(key.hex()), tx.now_ms)
    tx.run("INSERT INTO settings (key, value, changed_at) VALUES (?, ?, ?)", row)
    _blind_requests(tx, key)
    return key


def _blind_requests(tx: Tx, key: bytes) -> None:
    """Put what was kept of requests before under the key too: a text that goes now may be in one of them."""
    found = tx.all("SELECT actor, request_id, digest FROM requests")
    tx.run_many(
        "UPDATE requests SET digest = ? WHERE actor = ? AND request_id = ?",
        [(keyed_digest(key, _BLINDED, bytes(digest)), actor, name) for actor, name, digest in found],
    )


NO_IDS: frozenset[str] = frozenset()


def note_disclosures(tx: Tx, rows: Iterable[tuple[str, str, int]]) -> None:
    """Write down which memories were given to which clients; by this an echo is recognized.

    Args:
        tx: the transaction of the journal.
        rows: client id, memory id, time in epoch ms; rows of a memory or client that is gone are dropped.
    """
    tx.run_many(
        "INSERT INTO handed (client_id, memory_id, last_at) SELECT c.id, m.id, ? FROM memories m, clients c "
        "WHERE m.id = ? AND c.id = ? ON CONFLICT (client_id, memory_id) DO UPDATE "
        "SET last_at = excluded.last_at, times = times + 1",
        [(at, memory_id, client_id) for client_id, memory_id, at in rows],
    )


def was_disclosed(rows: Rows, client_id: str | None, memory_id: str, waiting: frozenset[str] = NO_IDS) -> bool:
    """Whether a client was given a memory, or one that stands in its chain or beneath it.

    Args:
        client_id: the client; None for the owner, who is never an echo.
        waiting: ids that were given to the client and are not written down yet.

    Returns:
        Whether what says the same may be an echo.
    """
    if client_id is None:
        return False
    derived_ids = [
        str(row[0])
        for row in rows.all(
            "SELECT id FROM memories WHERE id = ? OR consolidated_into = ? OR "
            "chain_id = (SELECT chain_id FROM memories WHERE id = ?)",
            (memory_id, memory_id, memory_id),
        )
    ]
    if waiting.intersection(derived_ids):
        return True
    found = rows.one(
        "SELECT 1 FROM handed WHERE client_id = ? AND memory_id IN (SELECT value FROM json_each(?))",
        (client_id, to_json(derived_ids)),
    )
    return found is not None


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


CLIENT_TEXT_BYTES = 8 * 1024  # design section 8, a client's text
REASON_CHARACTERS = 512
"""Of why somebody judges a memory or wants it changed; `verdict_reason` in resources/protocol.json says the same."""
_SPACE_NAME_CHARACTERS = 128
# Controls (C0, C1), format characters (bidi marks, invisible ones), halves of characters, line and paragraph ends.
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def check_memory_text(text: str, limit_bytes: int | None) -> None:
    """Refuse a text that cannot be remembered.

    Args:
        text: the text as it came.
        limit_bytes: UTF-8 bytes at most; None for no limit.

    Raises:
        UserError: INVALID_INPUT for empty, NUL and lone surrogates; TEXT_TOO_LARGE.
    """
    if not text.strip():
        raise UserError(Code.INVALID_INPUT, "The text is empty; write what should be remembered.")
    if "\0" in text:
        raise UserError(Code.INVALID_INPUT, "The text holds a NUL character; remove it and try again.")
    try:
        size = len(text.encode("utf-8"))
    except UnicodeEncodeError:
        raise UserError(
            Code.INVALID_INPUT, "The text holds half of a character (a lone surrogate); send valid Unicode."
        ) from None
    if limit_bytes is not None and size > limit_bytes:
        raise UserError(
            Code.TEXT_TOO_LARGE, f"The text is larger than {limit_bytes // 1024} KiB; split it into smaller memories."
        )


def check_importance(value: float | None) -> float:
    """Check the importance that a caller gives to a memory.

    Args:
        value: 0 to 1, or None for the default.

    Returns:
        A number from 0 to 1.

    Raises:
        UserError: INVALID_INPUT when outside 0 to 1.
    """
    if value is None:
        return 0.5
    if not 0 <= value <= 1:  # a NaN fails this too
        raise UserError(Code.INVALID_INPUT, "The importance must lie between 0 and 1.")
    return float(value)


def check_space_name(name: str) -> str:
    """Check the name of a space.

    Args:
        name: 1 to 128 characters without control or invisible characters or surrounding blanks.

    Raises:
        UserError: INVALID_INPUT.
    """
    unseen = any(unicodedata.category(sign) in _UNSEEN for sign in name)
    if unseen or not 1 <= len(name) <= _SPACE_NAME_CHARACTERS or name != name.strip():
        raise UserError(
            Code.INVALID_INPUT, "A space's name has 1 to 128 characters and no control or invisible characters."
        )
    return name


def check_reason(reason: str | None) -> None:
    """Refuse a reason that cannot be kept.

    Args:
        reason: why, in somebody's words.

    Raises:
        UserError: INVALID_INPUT.
    """
    if reason is not None and (len(reason) > REASON_CHARACTERS or not is_plain_label(reason)):
        raise UserError(Code.INVALID_INPUT, f"A reason has up to {REASON_CHARACTERS} characters of plain text.")


def is_plain_label(text: str) -> bool:
    """Whether a short text can be stored: no NUL, no half of a character."""
    return "\0" not in text and not any(0xD800 <= ord(sign) <= 0xDFFF for sign in text)
