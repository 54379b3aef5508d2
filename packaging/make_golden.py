"""Make the golden vault of the present schema version in tests/vaults/vN.

    .venv/bin/python packaging/make_golden.py

For whoever adds a migration: run it once on the last day of a version, commit the folder, and
never make that folder again; a test opens every one of them for ever. The root key and the
passphrase are fixed and public: nothing in there is anyone's.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "packaging")]

from core.intake.seal.seal import SealKey  # noqa: E402
from core.intake.seal.sealed_body import SealedBody  # noqa: E402
from core.memory.files import FileDraft, Region, ViewDraft, insert_file  # noqa: E402
from core.memory.stored_files import seal_content, store_content  # noqa: E402
from core.security.keyfile import KeyFile  # noqa: E402
from core.security.keys import Purpose, RootKey  # noqa: E402
from core.security.passphrase import KdfCost  # noqa: E402 - the checkout has to be on the path first
from core.security.slots import change_passphrase  # noqa: E402
from core.types.clock import ManualClock  # noqa: E402
from core.types.files.attachments import ViewMethod  # noqa: E402
from core.vault.audit import AuditChain  # noqa: E402
from core.vault.database.migrations import known_migrations  # noqa: E402
from core.vault.database.rows import image_hash, image_to_json  # noqa: E402
from core.vault.database.tx import Tx  # noqa: E402
from core.vault.files.home import Home, SubKeys  # noqa: E402
from core.vault.vault import Vault  # noqa: E402
from core.vault.verification import verify_vault  # noqa: E402
from golden_belief import DAY_MS, MADE_MS, answers, desk, disagreements  # noqa: E402

GOLDEN_ROOT = bytes(range(32))
GOLDEN_ID = bytes(range(100, 116))
PASSPHRASE = "golden and public"  # noqa: S105 - fixed on purpose
SEAL_ID = bytes(range(200, 216))
SEAL_PASSPHRASE = "sealed and public"  # noqa: S105 - fixed on purpose
SEALED_TEXT = "The safe opens with 12-34-56."

_TEXTS = (
    "Ada moved to Lisbon in March.",
    "The heat pump was serviced; invoice 2214 is paid.",
    "Prefers window seats, but not over the wing.",
    "Übermut tut selten gut – sagt Großmutter.",
    "東京で桜を見た。",
    'NUL\0inside, quotes "\'" and an emoji 🦉.',
    "Never deploy on a Friday.",
    "To bleed the radiator: close the pump, open the valve, wait, close.",
)
_COUNTED = ("memories", "memory_fts_docsize", "claims", "evidence", "entities", "entity_aliases", "mentions", "edges",
            "derivations", "embeddings", "audit", "undo_steps", "undo_rows", "clients", "grants", "spaces", "imports",
            "conversations", "places", "rooms", "rules", "procedures", "settings", "tombstones", "memory_sources",
            "conflicts", "verdicts", "review_rules", "handed", "consolidation_log", "probes", "probe_runs", "receipts",
            "feedback", "tunings", "jobs", "job_deeds", "fading", "spared", "replays", "inferred", "links", "gaps",
            "gap_asks", "distilled", "rule_applications", "vector_spaces", "taken_back",
            "statements", "readings", "landmarks", "alcoves", "rehearsals", "unset_landmarks",
            "seal_keys", "sealed_memories", "sync_state", "sync_devices", "sync_invitations",
            "sync_rows", "sync_keys", "watched_folders", "watched_files", "watched_records", "watched_log",
            "stored_files", "stored_chunks", "sealed_files", "files", "file_views")  # fmt: skip


def golden_keys(root: RootKey) -> SubKeys:
    """The sub-keys of the golden vault."""
    return SubKeys(root.derive(Purpose.VAULT), root.derive(Purpose.HEAD), root.derive(Purpose.AUDIT))


def _places(tx: Tx) -> None:
    tx.insert("clients", {"id": "client-1", "name": "notebook", "token": bytes(32), "paired_at": tx.now_ms})
    tx.insert("grants", {"client_id": "client-1", "name": "read", "granted_at": tx.now_ms})
    tx.insert("spaces", {"id": "space-1", "name": "work", "client_id": "client-1", "created_at": tx.now_ms})
    tx.insert("grants", {"client_id": "client-1", "name": "space", "space_id": "space-1", "granted_at": tx.now_ms})
    tx.insert(
        "rooms", {"id": "room-1", "space_id": "home", "name": "Journeys", "made_by": "owner", "created_at": tx.now_ms}
    )
    tx.insert(
        "imports",
        {
            "id": "import-1",
            "format": "markdown",
            "label": "notes",
            "location": "notes",
            "fingerprint": "f",
            "space_id": "home",
            "state": "done",
            "started_at": tx.now_ms,
        },
    )
    tx.insert(
        "conversations",
        {"id": "conversation-1", "identity": "golden", "space_id": "home", "recorded_at": tx.now_ms},
    )


def _memories(tx: Tx) -> None:
    kinds = ("fact", "episode", "fact", "episode", "episode", "episode", "rule", "procedure")
    for nr, (text, kind) in enumerate(zip(_TEXTS, kinds, strict=True), start=1):
        tx.insert(
            "memories",
            {
                "n": nr,
                "id": f"memory-{nr}",
                "kind": kind,
                "status": "archived" if nr == 3 else "active",
                "text": text,
                "content_hash": sha256(text.encode()).digest(),
                "space_id": "home",
                "source": "user_explicit" if nr % 2 else "document",
                "role": "user",
                "conversation_id": "conversation-1" if kind == "episode" else None,
                "import_id": "import-1" if nr % 2 == 0 else None,
                "lineage": f"lineage-{nr}",
                "occurred_at": MADE_MS - nr * DAY_MS,
                "occurred_prec": "day",
                "recorded_at": tx.now_ms,
                "trust": nr / 10,
                "confidence": nr / 10,
                "last_confirmed_at": tx.now_ms,
                "chain_id": f"memory-{nr}",
            },
        )
        tx.run("INSERT INTO memory_fts (rowid, terms) VALUES (?, ?)", (nr, " ".join(text.lower().split())))
        tx.run(
            "INSERT INTO embeddings (owner, n, vector_space, model, dims, vector, rev) "
            "VALUES ('memory', ?, 's', 'm', 4, ?, ?)",
            (nr, bytes([nr] * 8), tx.seq),
        )
    tx.insert("rules", {"memory_id": "memory-7"})
    tx.insert("procedures", {"memory_id": "memory-8"})
    tx.insert("places", {"memory_id": "memory-1", "room_id": "room-1", "x": 1.5, "y": 2.5, "placed_by": "owner"})
    tx.run("UPDATE vault_state SET next_n = ?", (len(_TEXTS) + 1,))


def _belief(tx: Tx) -> None:
    now = tx.now_ms
    tx.insert("entities", {"id": "entity-1", "space_id": "home", "name": "Ada", "type": "person", "recorded_at": now})
    tx.insert("entity_aliases", {"entity_id": "entity-1", "alias": "Ada L.", "alias_key": "ada l", "recorded_at": now})
    tx.insert("mentions", {"memory_id": "memory-1", "entity_id": "entity-1", "start_at": 0, "end_at": 3})
    tx.insert(
        "claims",
        {
            "id": "claim-1",
            "space_id": "home",
            "claim_key": sha256(b"claim").digest(),
            "subject": "Ada",
            "subject_key": "ada",
            "subject_entity_id": "entity-1",
            "predicate": "lives in",
            "value": "Lisbon",
            "value_key": "lisbon",
            "exclusive": 1,
            "extracted_by": "rules",
            "recorded_at": now,
        },
    )
    tx.insert(
        "evidence",
        {
            "id": "evidence-1",
            "claim_id": "claim-1",
            "memory_id": "memory-1",
            "space_id": "home",
            "quote": "moved to Lisbon",
            "start_at": 4,
            "end_at": 19,
            "span_hash": sha256(b"moved to Lisbon").digest(),
            "method": "rules",
            "lineage": "lineage-1",
            "observed_at": now,
            "recorded_at": now,
        },
    )
    tx.update("claims", {"id": "claim-1"}, {"state": "asserted", "asserted_at": now})
    related = {"space_id": "home", "recorded_at": now}
    edge = {"id": "edge-1", "from_id": "memory-2", "to_id": "memory-1", "type": "related_to", "made_by": "owner"}
    tx.insert("edges", {**edge, **related})
    tx.insert("derivations", {"derived_id": "memory-8", "source_id": "memory-2", **related})


def _journal(tx: Tx) -> None:
    before, after = {"n": 3, "status": "active"}, {"n": 3, "status": "archived"}
    step = {"id": "step-1", "at": tx.now_ms, "verb": "forget", "label": "Forget one memory", "actor": "owner"}
    tx.insert("undo_steps", {**step, "expires_at": tx.now_ms + 90 * DAY_MS})
    tx.insert(
        "undo_rows",
        {
            "step_id": "step-1",
            "nr": 1,
            "tbl": "memories",
            "row_key": image_to_json({"n": 3}),
            "before": image_to_json(before),
            "after": image_to_json(after),
            "after_hash": image_hash(after),
        },
    )
    tx.insert("settings", {"key": "undo_days", "value": "90", "changed_at": tx.now_ms})
    tx.insert("tombstones", {"digest": bytes(32), "kind": "text", "erased_at": tx.now_ms})


def _recall(tx: Tx) -> None:
    """What version 3 added: probes and their runs, receipts that can be counted, feedback with its vector space."""
    now = tx.now_ms
    asked = {"query": "Where does Ada live?", "kind": "positive", "within": 3, "passed": 0, "ran_at": now}
    tx.insert(
        "probes",
        {"id": "probe-1", "expected": '["memory-1"]', "created_at": now, "regressed_at": now, **asked},
    )
    tx.insert(
        "probes",
        {"id": "probe-2", "query": "Who won?", "expected": "[]", "kind": "negative", "created_at": now},
    )
    tally = {"found": 0, "found_of": 1, "empty": 1, "empty_of": 1, "stale": 0, "stale_of": 0, "tokens": 7.5}
    tx.insert("probe_runs", {"id": "run-1", "at": now, "step_id": "step-1", **tally})
    tx.insert("tunings", {"step_id": "step-1", "changes": '{"floor":[0.25,0.3]}'})
    receipt = {"id": "receipt-1", "at": now, "actor": "client", "client_id": "client-1", "verb": "recall"}
    metrics = {"metrics": '{"average_relevancy":0.5}', "items": 1, "expires_at": now + 30 * DAY_MS}
    tx.insert("receipts", {**receipt, "query": "Where does Ada live?", "body": "{}", **metrics})
    judged = {"id": "feedback-1", "memory_id": "memory-4", "receipt_id": "receipt-1", "signal": "irrelevant"}
    tx.insert("feedback", {**judged, "context": bytes(8), "vector_space": "s", "actor": "owner", "at": now})


def _lifecycle(tx: Tx) -> None:
    """What version 4 added: jobs, fading, replay, inferred metadata, gaps, proposed relations, rules with feedback."""
    now = tx.now_ms
    job = {"id": "job-1", "type": "sweep", "state": "queued", "created_at": now, "attempts": 1, "code": "E1003"}
    tx.insert("jobs", {**job, "total": 1, "not_before": now})
    tx.insert("job_deeds", {"job_id": job["id"], "place": 0, "deed": '["fade","memory-1",[],"fading",0.1,{}]'})
    ended = {"id": "job-2", "type": "consolidate", "state": "done", "created_at": now, "finished_at": now}
    tx.insert("jobs", {**ended, "report": '{"deduplicated":1}', "step_id": "step-1", "actor": "owner"})
    tx.insert("fading", {"memory_id": "memory-1", "since": now, "confidence": 0.15})
    tx.insert("spared", {"memory_id": "memory-2", "at": now, "until": now + 90 * DAY_MS})
    tx.insert("taken_back", {"memory_id": "memory-3", "at": now})
    tx.insert("replays", {"memory_id": "memory-4", "times": 2, "boost": 0.4, "last_at": now})
    read = {"body": '{"technologies":["SQLite"]}', "valence": 0.5, "arousal": 0.3, "version": 1, "made_by": "rules"}
    tx.insert("inferred", {"memory_id": "memory-5", **read, "at": now})
    pair = {"from_id": "memory-2", "to_id": "memory-4", "space_id": "home", "cosine": 0.8, "state": "rejected"}
    tx.insert("links", {**pair, "at": now})
    asked = {"id": "gap-1", "fingerprint": bytes(32), "kind": "missing", "memory_id": "memory-1", "space_id": "home"}
    tx.insert("gaps", {**asked, "schema": "pet", "field": "name", "opened_at": now})
    tx.insert("gap_asks", {"gap_id": "gap-1", "client_id": "client-1", "session": "s", "at": now})
    tx.insert("distilled", {"memory_id": "memory-6", "state": "failed", "attempts": 1, "code": "E3001", "at": now})
    tx.update("rules", {"memory_id": "memory-7"}, {"helpful": 3, "harmful": 1, "effectiveness": 0.42})
    used = {"id": "use-1", "memory_id": "memory-7", "applied_at": now, "outcome": "harmful", "reason": "It broke."}
    tx.insert("rule_applications", {**used, "client_id": "client-1"})
    tx.update("entities", {"id": "entity-1"}, {"made_by": "rules"})
    space = {"name": "s", "model": "m", "dims": 4, "state": "active", "started_at": now, "finished_at": now}
    tx.insert("vector_spaces", space)


def _talk(tx: Tx) -> None:
    """What version 6 added: a statement with the span of its episode, and which episodes were read."""
    now = tx.now_ms
    told = {"about": "Ada", "type": "place", "lasting": 1, "confidence": 0.9, "operation": "NOOP", "made_by": "reader"}
    tx.insert("statements", {"memory_id": "memory-1", "episode_id": "memory-2", "start_at": 4, "end_at": 13, **told})
    for episode, is_small in (("memory-2", 0), ("memory-4", 1)):
        text = tx.value("SELECT content_hash FROM memories WHERE id = ?", (episode,))
        tx.insert(
            "readings",
            {"memory_id": episode, "version": "a reader", "content_hash": text, "small_talk": is_small, "at": now},
        )


def _palace(tx: Tx) -> None:
    """What version 7 added: by what a room is recognised, a landmark, an alcove, and how the landmark is recalled."""
    tx.update("rooms", {"id": "room-1"}, {"emblem": "luggage", "tint": 3, "outline": 1, "floor": 5})
    tx.insert("landmarks", {"room_id": "room-1", "position": 0, "memory_id": "memory-1", "chosen_by": "owner"})
    tx.insert("unset_landmarks", {"memory_id": "memory-2"})
    ground = {"x": 1.0, "y": 2.0, "w": 4.0, "h": 6.0}
    tx.insert("alcoves", {"id": "alcove-1", "room_id": "room-1", "name": "Portugal", **ground})
    learned = {"state": 2, "step": None, "stability": 4.5, "difficulty": 5.5, "times": 3}
    due = {"due_at": tx.now_ms + 4 * DAY_MS, "last_at": tx.now_ms}
    tx.insert("rehearsals", {"memory_id": "memory-1", **learned, **due})


def _sealed(tx: Tx) -> None:
    """What version 8 added: a memory sealed under a key of its own."""
    with RootKey(GOLDEN_ROOT[::-1], SEAL_ID) as root:
        keys = change_passphrase(
            KeyFile(SEAL_ID, MADE_MS, test_clock=False, slots=()), root, SEAL_PASSPHRASE, KdfCost.lowest()
        )
        tx.insert("seal_keys", {"id": SEAL_ID.hex(), "slots": keys.to_bytes(), "made_at": MADE_MS})
        row = {"id": "memory-sealed", "text": SEALED_TEXT, "part_of": None, "part_index": None, "kind": "fact"}
        body = SealKey(SEAL_ID.hex(), root).encrypt(SealedBody("memory-sealed", (row,), {}, ()))
    named = {"id": "memory-sealed", "key_id": SEAL_ID.hex(), "space_id": "home", "kind": "fact", "label": "A safe"}
    tx.insert("sealed_memories", {**named, "body": body, "sealed_at": tx.now_ms})


def _files(tx: Tx) -> None:
    """What version 11 added: a file of a memory, a text that was read out of it, and a content that is sealed."""
    stored = store_content(tx, seal_content("content-1", b"The boat is moored at Graz."), None)
    region = (Region(1, 0, 4, 0, 0),)
    view = ("view-1", ViewDraft(ViewMethod.PDF_TEXT, "The boat is moored at Graz.", region))
    insert_file(
        tx,
        FileDraft(
            id="file-1",
            memory_id="memory-1",
            stored_id=stored,
            views=(view,),
            name="boat.pdf",
            media_type="application/pdf",
            caption="The boat",
            pages=1,
        ),
    )
    store_content(tx, seal_content("content-2", b"sealed"), None)
    tx.insert("sealed_files", {"memory_id": "memory-sealed", "file_id": "content-2"})
    tx.run("DELETE FROM stored_files WHERE id = 'content-2'")


def _devices(tx: Tx) -> None:
    """What version 9 added: two devices, of which this is one, and stamps of what is written from then on."""
    own, other = "00" * 7 + "aa", "00" * 7 + "bb"
    keys = {"sync_key": bytes(32), "private_key": bytes(range(32))}
    tx.run(
        "INSERT INTO sync_state (one, group_id, device, sync_key, private_key, folder, digest) "
        "VALUES (1, ?, ?, ?, ?, '/nowhere', ?)",
        ("00" * 16, own, keys["sync_key"], keys["private_key"], "00" * 32),
    )
    tx.run_many(
        "INSERT INTO sync_devices (id, name, public_key, added_at, number) VALUES (?, ?, ?, ?, ?)",
        [(own, "desk", bytes(32), tx.now_ms, 0), (other, "laptop", bytes(range(32)), tx.now_ms, 3)],
    )
    tx.run("INSERT INTO sync_invitations (id, secret, expires_at) VALUES ('00', x'00', ?)", (tx.now_ms,))
    tx.run("INSERT INTO sync_rows (tbl, row_key, presence, born) VALUES ('memories', 'memory-1', 1, ?)", ("0" * 32,))
    tx.update("memories", {"id": "memory-1"}, {"pinned": 1})


def _watched(tx: Tx) -> None:
    """What version 10 added: a key of bundles, a folder that is watched, a file of it and what that said."""
    held = {"made": MADE_MS, "holders": '["0000000000000000aa"]'}
    tx.run("INSERT INTO sync_keys (id, key, made, holders) VALUES (?, ?, ?, ?)", ("0" * 16, bytes(32), *held.values()))
    folder = {"id": "folder-1", "path": "/nowhere/notes", "format": "markdown", "space_id": "home"}
    tx.run(
        "INSERT INTO watched_folders (id, path, format, space_id, import_id, root, added_at) "
        "VALUES (?, ?, ?, ?, 'import-1', '0:0', ?)",
        (*folder.values(), tx.now_ms),
    )
    tx.run("INSERT INTO watched_files (n, folder_id, name, stamp) VALUES (1, 'folder-1', 'moorings.md', '0:0:0')")
    tx.run(
        "INSERT INTO watched_records (file_n, identity, position, memory_id) VALUES (1, ?, 0, 'memory-4')",
        (bytes(32),),
    )
    tx.run(
        "INSERT INTO watched_log (folder_id, at, event, name) VALUES ('folder-1', ?, 'came', 'moorings.md')",
        (tx.now_ms,),
    )


def _answers(vault: Vault) -> dict[str, object]:
    def read_fts(word: str) -> list[int]:
        sql = "SELECT rowid FROM memory_fts WHERE memory_fts MATCH ? ORDER BY rowid"
        return [n for (n,) in vault.read(lambda rows: rows.all(sql, (f'"{word}"',)))]

    texts = vault.read(lambda rows: rows.all("SELECT text FROM memories ORDER BY n"))
    counts = vault.read(lambda rows: {name: rows.value(f'SELECT count(*) FROM "{name}"') for name in _COUNTED})  # noqa: S608
    return {
        "root": GOLDEN_ROOT.hex(),
        "passphrase": PASSPHRASE,
        "schema": vault.info.schema_version,
        "seq": vault.seq,
        "counts": counts,
        "texts_sha256": sha256("\x1e".join(text for (text,) in texts).encode()).hexdigest(),
        "found": {word: read_fts(word) for word in ("lisbon", "friday.", "paid.", "übermut", "nothing")},
        "claims": vault.read(lambda rows: rows.all("SELECT subject, predicate, value, state FROM claims ORDER BY id")),
        **answers(vault),
    }


def make(target: Path) -> None:
    """Make the folder anew.

    Args:
        target: where; replaced as a whole.
    """
    home = Home(Path(tempfile.mkdtemp()) / "home", reserve_bytes=0)
    clock = ManualClock(MADE_MS)
    try:
        with RootKey(GOLDEN_ROOT, GOLDEN_ID) as root:
            keys = golden_keys(root)
            key_file = KeyFile(GOLDEN_ID, MADE_MS, test_clock=True, slots=())
            key_file = change_passphrase(key_file, root, PASSPHRASE, KdfCost.lowest())
        Vault.create_files(home, keys, GOLDEN_ID, clock)
        vault = Vault.open(home, keys, GOLDEN_ID, clock)
        chain = AuditChain(keys.audit)
        verbs = (_places, _memories, _belief, _journal, disagreements, desk, _recall, _lifecycle, _talk, _palace,
                 _sealed, _devices, _watched, _files)  # fmt: skip
        for nr, verb in enumerate(verbs):
            clock.advance(1000)
            vault.write(
                lambda tx, verb=verb, nr=nr: (verb(tx), chain.append_row(tx, "owner", "golden", detail={"nr": nr}))  # type: ignore[misc]  # mypy infers no lambda with defaults
            )
        report = verify_vault(vault, keys)
        told = _answers(vault)
        vault.close()
        if report.status != "ok":
            raise SystemExit(f"not written: {report.as_json()}")
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        for file in (home.vault, home.head):
            shutil.copyfile(file, target / file.name)
        (target / "vault.keys").write_bytes(key_file.to_bytes())
        (target / "answers.json").write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    finally:
        shutil.rmtree(home.path.parent)


if __name__ == "__main__":
    version = known_migrations()[-1].version
    make(ROOT / "tests" / "vaults" / f"v{version}")
    print(f"tests/vaults/v{version} is made")
