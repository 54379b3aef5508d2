"""The facade's group for sealed memories: the seal key with its own passphrase, sealing, reading and putting back.

The key is in memory only between `open` and `close`, for as long as the option says since it was last used, and never
longer than the vault is open. Deriving it takes long and runs on the vault's own threads. Everything here is the
owner's. Must not do: put a text, a label or a secret into a log, an error or the audit.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future

import numpy as np
from numpy.typing import NDArray

from core.engine.memories.memories import backups_of, embed_restored, vector_remover
from core.engine.runtime.open_vault import OpenVault, VaultSlot
from core.engine.runtime.search import Search
from core.engine.runtime.storage import map_result
from core.engine.vault.seal_search import SealedSearch
from core.engine.vault.sealed_copies import SealedCopies
from core.engine.vault.sealed_files import SealedFiles
from core.errors import Code, IntegrityError, LociError, PreconditionError, UserError
from core.intake.erase.erasure import erase_preview
from core.intake.erase.subjects import NamedRows
from core.intake.seal.seal import (
    SEAL,
    UNSEAL,
    SealKey,
    check_label,
    check_summary,
    discard_sealed,
    read_sealed,
    read_texts,
    seal_memories,
    unseal_memories,
)
from core.memory.read import read_by_ids
from core.memory.write import write_vectors
from core.recall.browse.sealed_rows import list_sealed
from core.security.guesses import GuessDelay
from core.security.keyfile import KeyFile, intact_body, parse_body
from core.security.passphrase import KdfCost
from core.security.slots import change_passphrase, create_keys, open_with_secret, renew_recovery_code
from core.text.terms import embedding_text
from core.text.times import format_time
from core.types.clock import Deadline
from core.types.memory import ErasePreview
from core.types.sensitivity import SealedRow, SealedText, SealReport, SealState
from core.types.values import OWNER_ACTOR, Precision, When
from core.vault.copies import noted_elsewhere
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx, without_recorder

_CONFIDENTIAL = (
    "SELECT m.id FROM memories m JOIN spaces s ON s.id = m.space_id WHERE m.security_tier = 'confidential' "
    "AND m.status NOT IN ('deleted', 'superseded') AND coalesce(m.part_index, 0) = 0 "
    "AND (:space IS NULL OR s.name = :space) ORDER BY m.n"
)
SET_UP, RENEW, DISCARD = "set_up_seal", "change_seal_secrets", "discard_sealed"


class SealedMemories:
    """Memories under a key of their own.

    Attributes:
        files: those that sealed memories have.
        copies: those of the vault that are older than a seal.
    """

    def __init__(self, slot: VaultSlot, cost: KdfCost | None = None) -> None:
        """Begin closed.

        Args:
            slot: holds the open vault.
            cost: of a guess at a passphrase that is set; None for the standard.
        """
        self._slot, self._cost = slot, cost
        self._lock = threading.Lock()  # guards the two below
        self._keys: dict[str, SealKey] = {}
        self._closes_at = Deadline(0.0, 0)
        self._search = SealedSearch()
        self.files = SealedFiles(slot, self._key_of)
        self.copies = SealedCopies(slot, self._key_of)

    @property
    def is_open(self) -> bool:
        """Whether the seal key is in memory."""
        self.close_when_due()
        with self._lock:
            return bool(self._keys)

    def read_state(self) -> Future[SealState]:
        """Whether there is a seal key, whether it is in memory, and how many memories are sealed."""
        open_vault = self._slot.require_vault()
        self.close_when_due()
        with self._lock:
            is_open, left = bool(self._keys), self._closes_at.seconds_left(open_vault.storage.clock)

        def read(rows: Rows) -> SealState:
            count = int(rows.value("SELECT count(*) FROM sealed_memories") or 0)
            return SealState(bool(_read_key_files(rows)), is_open, max(0, round(left)) if is_open else 0, count)

        return open_vault.storage.read_quietly(read)

    def set_up(self, passphrase: str) -> Future[str]:
        """Make the seal key and put it into memory.

        Args:
            passphrase: opens it from now on; it may be the vault's, and does not change with that.

        Returns:
            The recovery code of the seal key, to be shown once. The future raises INVALID_INPUT, MEMORY_PRESSURE, and
            INVALID_INPUT where there is a seal key already.
        """
        open_vault = self._slot.require_vault()

        def make() -> str:
            made = create_keys(passphrase, clock=open_vault.storage.clock, cost=self._cost)

            def write(tx: Tx) -> None:
                if _read_key_files(tx):
                    raise PreconditionError("Sealing is set up already.")
                with open_vault.storage.verb(tx, OWNER_ACTOR, SET_UP, label="Set up sealing") as verb:
                    _write_key_file(tx, made.keys)
                    verb.note_audit(made.keys.vault_id.hex())

            try:
                open_vault.storage.write(write).result()
            except BaseException:
                made.root.wipe()
                raise
            self._keep(open_vault, [SealKey(made.keys.vault_id.hex(), made.root)])
            return made.recovery_code

        return open_vault.storage.run_on(open_vault.storage.threads.checks, make)

    def open(self, secret: str) -> Future[SealState]:
        """Put the seal key into memory.

        Args:
            secret: the passphrase or the recovery code of the seal key.

        Returns:
            How it is now. The future raises WRONG_SECRET, TOO_MANY_GUESSES, MEMORY_PRESSURE, NOT_FOUND where sealing is
            not set up.
        """
        open_vault = self._slot.require_vault()

        def open_key() -> SealState:
            self._keep(open_vault, self._open_keys(open_vault, secret))
            return self.read_state().result()

        return open_vault.storage.run_on(open_vault.storage.threads.checks, open_key)

    def close(self) -> None:
        """Take the seal key out of memory; nothing where it is not there."""
        with self._lock:
            for key in self._keys.values():
                key.root.wipe()
            self._keys.clear()
        self._search.forget()

    def close_when_due(self) -> None:
        """Close where nobody used it for as long as the option says."""
        open_vault = self._slot.vault
        with self._lock:
            is_due = bool(self._keys) and (
                open_vault is None or self._closes_at.seconds_left(open_vault.storage.clock) <= 0
            )
        if is_due:
            self.close()

    def change_passphrase(self, secret: str, passphrase: str) -> Future[None]:
        """Give the seal key another passphrase; its recovery code stays.

        Args:
            secret: the passphrase or the recovery code that opens it now.

        Returns:
            When it is saved. The future raises WRONG_SECRET, TOO_MANY_GUESSES, INVALID_INPUT, MEMORY_PRESSURE.
        """

        def renew(keys: KeyFile, key: SealKey) -> tuple[KeyFile, None]:
            return change_passphrase(keys, key.root, passphrase, self._cost), None

        return map_result(self._renew_slots(secret, renew), lambda _: None)

    def renew_recovery_code(self, secret: str) -> Future[str | None]:
        """Give the seal key another recovery code.

        Returns:
            The new code, to be shown once; the future raises as `change_passphrase`.
        """
        return self._renew_slots(secret, lambda keys, key: renew_recovery_code(keys, key.root))

    def _renew_slots(
        self, secret: str, renew: Callable[[KeyFile, SealKey], tuple[KeyFile, str | None]]
    ) -> Future[str | None]:
        open_vault = self._slot.require_vault()

        def change() -> str | None:
            opened = self._open_keys(open_vault, secret)
            files = {keys.vault_id.hex(): keys for keys in open_vault.storage.vault.read(_read_key_files)}
            renewed, code = renew(files[opened[0].id], opened[0])
            self._keep(open_vault, opened)

            def write(tx: Tx) -> None:
                with open_vault.storage.verb(tx, OWNER_ACTOR, RENEW, label="Change how sealed memories open") as verb:
                    _write_key_file(tx, renewed)
                    verb.note_audit(opened[0].id)

            open_vault.storage.write(write).result()
            return code

        return open_vault.storage.run_on(open_vault.storage.threads.checks, change)

    def find_confidential(self, space: str | None = None) -> Future[tuple[str, ...]]:
        """Memories that are confidential, by the person's word or the rules': what is offered for sealing.

        Args:
            space: of this space alone; None for all.

        Returns:
            Ids, the oldest first; what was forgotten or replaced by another version is left out.
        """
        return self._slot.require_storage().read(
            lambda rows: tuple(str(row[0]) for row in rows.all(_CONFIDENTIAL, {"space": space}))
        )

    def preview(self, ids: Sequence[str]) -> Future[ErasePreview]:
        """What goes with memories that are sealed: their versions, and what was made of them."""
        storage = self._slot.require_storage()
        backups = backups_of(storage.home)
        named = NamedRows(tuple(ids), whole_chain=True)
        return storage.read(lambda rows: erase_preview(rows, named, (*backups, *_backups_elsewhere(rows))))

    def seal(self, ids: Sequence[str], label: str = "", summary: str = "") -> Future[SealReport]:
        """Seal memories. There is no undo; `unseal` puts them back.

        Args:
            label: what they are listed by, readable without the key; of several each gets it. Empty for kind and day.
            summary: what is said of them in the clear, and found by; never made by the program.

        Returns:
            What was sealed. The future raises SEALED while the key is not in memory, NOT_FOUND.

        Raises:
            UserError: INVALID_INPUT for a label or a summary that is sensitive itself; SEALED, VAULT_LOCKED.
        """
        open_vault = self._slot.require_vault()
        line, said = check_label(label), check_summary(summary)
        key = self._newest_key(open_vault)
        backups = backups_of(open_vault.storage.home)
        waiting = open_vault.read_log.take_pending()
        removed = vector_remover(open_vault.storage, open_vault.search)

        def write(tx: Tx) -> SealReport:
            # What was read of them a moment ago is written first, so that it is cleared with the rest.
            open_vault.read_log.write(tx, waiting)
            with open_vault.storage.verb(tx, OWNER_ACTOR, SEAL) as verb:
                labels = {one: line or _describe_memory(tx, one) for one in ids}
                known = (*backups, *_backups_elsewhere(tx))
                done = seal_memories(tx, open_vault.storage.work, labels, key, OWNER_ACTOR, removed, known, said)
                verb.set_outcome(tuple(ids))
            return done

        def put_back(done: Future[SealReport]) -> None:
            if done.cancelled() or done.exception() is not None:
                open_vault.read_log.put_back(waiting)

        sealed = open_vault.storage.write(write)
        sealed.add_done_callback(put_back)
        return sealed

    def unseal(self, ids: Sequence[str]) -> Future[SealReport]:
        """Put sealed memories back among the others, as they were.

        Returns:
            What is there again, and found again by meaning. The future raises SEALED, NOT_FOUND, ENCRYPTION_FAILED.
        """
        open_vault = self._slot.require_vault()
        storage, search = open_vault.storage, open_vault.search

        def key_of(key_id: str) -> SealKey:
            return self._key_of(open_vault, key_id)

        def put_back() -> SealReport:
            texts = storage.vault.read(lambda rows: read_texts(rows, ids, key_of))
            vectors = _embed_texts(search, texts)

            def write(tx: Tx) -> SealReport:
                with storage.verb(tx, OWNER_ACTOR, UNSEAL) as verb:
                    done = unseal_memories(tx, storage.work, ids, key_of, OWNER_ACTOR, _vector_writer(search, vectors))
                    verb.set_outcome(tuple(ids))
                return done

            done = storage.write(write).result()
            if vectors.keys() != texts.keys():
                embed_restored(storage, search)
            return done

        return storage.run_on(storage.threads.checks, put_back)

    def list_rows(self) -> Future[tuple[SealedRow, ...]]:
        """All sealed memories by their labels, the newest first."""
        self.close_when_due()
        with self._lock:
            ids = tuple(self._keys)
        return self._slot.require_storage().read(lambda rows: list_sealed(rows, ids))

    def find(self, query: str, limit: int = 20) -> Future[tuple[SealedRow, ...]]:
        """Sealed memories that a question means, by meaning and words; that they were searched stands in the audit.

        Args:
            query: the question; it is kept nowhere.
            limit: rows at most.

        Returns:
            Their labels, the nearest first. The future raises SEALED, INVALID_QUERY, ENCRYPTION_FAILED.
        """
        open_vault = self._slot.require_vault()
        storage, search = open_vault.storage, open_vault.search
        if not query.strip():
            raise UserError(Code.INVALID_QUERY, "Write what you look for.")

        def look() -> tuple[SealedRow, ...]:
            self._newest_key(open_vault)
            with self._lock:
                keys = tuple(self._keys)
            rows = {row.id: row for row in storage.vault.read(lambda rows: list_sealed(rows, keys)) if row.can_open}

            def read(ids: Sequence[str]) -> Mapping[str, str]:
                texts = storage.vault.read(
                    lambda rows: read_texts(rows, ids, lambda key_id: self._key_of(open_vault, key_id))
                )
                return {one: texts[one][0] for one in ids}

            found = self._search.rank(search, tuple(rows), read, query)[:limit]

            def write(tx: Tx) -> None:
                with storage.verb(tx, OWNER_ACTOR, "search_sealed", label="Search sealed memories") as verb:
                    verb.note_audit(found=len(found))

            storage.write(write).result()
            return tuple(rows[one] for one, _ in found)

        return storage.run_on(storage.threads.checks, look)

    def read_text(self, memory_id: str) -> Future[SealedText]:
        """One sealed memory in plain words; that it was read stands in the audit.

        Returns:
            Its text. The future raises SEALED, NOT_FOUND, ENCRYPTION_FAILED.
        """
        open_vault = self._slot.require_vault()

        storage = open_vault.storage

        def note(tx: Tx) -> None:
            with storage.verb(tx, OWNER_ACTOR, "read_sealed", label="Read a sealed memory") as verb:
                verb.note_audit(memory_id)

        def read() -> SealedText:
            found = storage.vault.read(
                lambda rows: read_sealed(rows, memory_id, lambda key_id: self._key_of(open_vault, key_id))
            )
            storage.write(note).result()  # given out once its line in the audit is saved
            return found

        return storage.run_on(storage.threads.reads, read)

    def discard(self, ids: Sequence[str]) -> Future[int]:
        """Erase sealed memories for good; needs no key.

        Returns:
            How many there were; the future raises NOT_FOUND.
        """
        storage = self._slot.require_storage()

        def write(tx: Tx) -> int:
            with storage.verb(tx, OWNER_ACTOR, DISCARD) as verb:
                done = discard_sealed(tx, storage.work, ids, OWNER_ACTOR)
                verb.set_outcome(tuple(ids))
            return done

        return storage.write(write)

    def check_bodies(self, rows: Rows) -> tuple[int, int, int]:
        """Decrypt every sealed memory whose key is in memory.

        Returns:
            How many opened, how many are damaged, and how many were not tried since their key is not in memory.
        """
        with self._lock:
            keys = dict(self._keys)
        sound = damaged = untried = 0
        for memory_id, key_id, body in rows.all("SELECT id, key_id, body FROM sealed_memories ORDER BY id"):
            key = keys.get(key_id)
            if key is None:
                untried += 1
                continue
            try:
                key.decrypt(memory_id, bytes(body))
                sound += 1
            except IntegrityError:
                damaged += 1
        return sound, damaged, untried

    # ---- the key

    def _open_keys(self, open_vault: OpenVault, secret: str) -> list[SealKey]:
        """Every seal key that a secret opens, the newest first."""
        files = open_vault.storage.vault.read(_read_key_files)
        if not files:
            raise UserError(Code.NOT_FOUND, "Sealing is not set up yet.")
        delay = GuessDelay(open_vault.storage.home.seal_guesses, open_vault.storage.clock)
        opened, fault = [], None
        delay.need_turn()
        for keys in files:
            try:
                opened.append(SealKey(keys.vault_id.hex(), open_with_secret(keys, secret)))
            except UserError as error:
                if error.code is not Code.WRONG_SECRET:
                    raise
                fault = error
        if not opened and fault is not None:
            delay.note_wrong()
            raise fault
        delay.forget()
        return opened

    def _keep(self, open_vault: OpenVault, opened: Sequence[SealKey]) -> None:
        self.close()
        with self._lock:
            self._keys.update((key.id, key) for key in opened)
            self._closes_at = _minutes_from_now(open_vault)

    def _newest_key(self, open_vault: OpenVault) -> SealKey:
        return self._use_key(open_vault, lambda keys: next(iter(keys.values()), None))

    def _key_of(self, open_vault: OpenVault, key_id: str) -> SealKey:
        return self._use_key(open_vault, lambda keys: keys.get(key_id))

    def _use_key(self, open_vault: OpenVault, choose: Callable[[Mapping[str, SealKey]], SealKey | None]) -> SealKey:
        self.close_when_due()
        with self._lock:
            key = choose(self._keys)
            if key is None:
                raise UserError(
                    Code.SEALED, "Sealed memories are locked. Open them with their passphrase and try again."
                )
            self._closes_at = _minutes_from_now(open_vault)
        return key


def _backups_elsewhere(rows: Rows) -> tuple[tuple[str, int], ...]:
    return tuple((str(path), made_at) for path, made_at in noted_elsewhere(rows).items())


def _embed_texts(search: Search, texts: Mapping[str, tuple[str, str | None]]) -> dict[str, NDArray[np.float32]]:
    """The vectors of memories, by id; none where the embedder is away."""
    try:
        rows = search.embed_many([embedding_text(text, author=author) for text, author in texts.values()]).result()
    except LociError:
        return {}  # they are embedded as soon as that is possible, as everything is that came back
    return dict(zip(texts, rows, strict=True))


def _vector_writer(search: Search, vectors: Mapping[str, NDArray[np.float32]]) -> Callable[[Tx, Sequence[str]], None]:
    def add_vectors(tx: Tx, ids: Sequence[str]) -> None:
        found = [memory for memory in read_by_ids(tx, ids).values() if memory.id in vectors]
        if not found:
            return
        labels, kept = [memory.n for memory in found], np.stack([vectors[memory.id] for memory in found])
        write_vectors(tx, labels, kept, search.space)
        seq = tx.seq
        tx.after_commit(lambda: search.add_vectors(seq, labels, kept))

    return add_vectors


def _minutes_from_now(open_vault: OpenVault) -> Deadline:
    return Deadline.after(open_vault.storage.clock, open_vault.options.seal_minutes * 60)


def _read_key_files(rows: Rows) -> list[KeyFile]:
    """The slots of every seal key, the newest first.

    Raises:
        IntegrityError: KEY_FILE_DAMAGED.
    """
    found = []
    for (slots,) in rows.all("SELECT slots FROM seal_keys ORDER BY made_at DESC, id"):
        body = intact_body(bytes(slots))
        if body is None:
            raise IntegrityError(Code.KEY_FILE_DAMAGED, "The key of the sealed memories is damaged; restore a backup.")
        found.append(parse_body(body))
    return found


def _write_key_file(tx: Tx, keys: KeyFile) -> None:
    """Written without an image: an undo would bring an old passphrase back."""
    row = {"id": keys.vault_id.hex(), "slots": keys.to_bytes(), "made_at": keys.created_ms}
    with without_recorder(tx):
        if not tx.update("seal_keys", {"id": row["id"]}, {"slots": row["slots"]}):
            tx.insert("seal_keys", row)


def _describe_memory(rows: Rows, memory_id: str) -> str:
    """Kind and day of a memory, which say nothing of its text."""
    row = rows.one("SELECT kind, coalesce(occurred_at, recorded_at) FROM memories WHERE id = ?", (memory_id,))
    if row is None:
        raise UserError(Code.NOT_FOUND, "There is no such memory.")
    return f"{str(row[0]).capitalize()} of {format_time(When(int(row[1]), Precision.DAY))}"
