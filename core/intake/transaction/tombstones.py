"""What was erased for good and must not come back: keyed digests, from which nothing can be read.

An import is known by the identity of its record, whatever became of the text; a text is known by its words, folded,
under a key of this vault alone. Only the person lifts a tombstone, by typing the text again. Must not do: keep a text.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Sequence

from core.memory.draft import to_json
from core.security.seal import keyed_digest
from core.text.terms import fold_width
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

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
    """Which digests have a tombstone.

    Args:
        digests: of identities (`core.intake.store.import_batch.identity_digest`) or of texts.

    Returns:
        Those of them that were erased.
    """
    return {row[0] for row in rows.all(_ERASED, (to_json([one.hex() for one in digests]),))}


def erased_texts(rows: Rows, texts: Iterable[str]) -> set[str]:
    """Which texts were erased and may not be stored by anybody but the person.

    Args:
        texts: whole texts, as they came.

    Returns:
        Those of them that were erased; none where nothing ever was.
    """
    key = _key(rows)
    if key is None:
        return set()
    digests = {text: _digest(key, text) for text in texts}
    erased = erased_digests(rows, list(digests.values()))
    return {text for text, digest in digests.items() if digest in erased}


def write_tombstones(tx: Tx, texts: Iterable[str], identities: Iterable[bytes]) -> int:
    """Put down what must not come back.

    Args:
        tx: the transaction of the erasure.
        texts: whole texts, and the parts of split ones; those of spaces alone are left out.
        identities: digests of imported records.

    Returns:
        How many digests there are.
    """
    key = _key(tx) or _new_key(tx)
    kinds = {_digest(key, text): TEXT for text in texts if fold_text(text)}
    kinds |= dict.fromkeys(identities, IDENTITY)
    tx.run_many(
        "INSERT OR IGNORE INTO tombstones (digest, kind, erased_at) VALUES (?, ?, ?)",
        [(digest, kind, tx.now_ms) for digest, kind in kinds.items()],
    )
    return len(kinds)


def lift_tombstones(tx: Tx, texts: Iterable[str]) -> None:
    """The person says a text again: it may be stored from here on, by others too.

    Args:
        tx: the transaction that stores it.
        texts: the whole text, and its parts.
    """
    key = _key(tx)
    if key is None:
        return
    digests = to_json(sorted({_digest(key, text).hex() for text in texts}))
    if tx.value("SELECT 1 FROM tombstones WHERE digest IN (SELECT unhex(value) FROM json_each(?)) LIMIT 1", (digests,)):
        tx.run("DELETE FROM tombstones WHERE digest IN (SELECT unhex(value) FROM json_each(?))", (digests,))


def blind_digest(rows: Rows, digest: bytes) -> bytes:
    """A digest of something that may hold an erased text, so that no more can be read from it than from a tombstone.

    Args:
        digest: of anything.

    Returns:
        32 bytes, under the key of this vault; the digest as it is where nothing was ever erased.
    """
    key = _key(rows)
    return digest if key is None else keyed_digest(key, _BLINDED, digest)


def _digest(key: bytes, text: str) -> bytes:
    return keyed_digest(key, _LABEL, fold_text(text).encode("utf-8", "surrogatepass"))


def _key(rows: Rows) -> bytes | None:
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
