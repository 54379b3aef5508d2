"""Verification: what is damaged is named, what could not be looked at is not called damaged."""

from __future__ import annotations

import random
import shutil
from contextlib import suppress
from pathlib import Path

import pytest
import vault_kit as kit

from core.errors import Code, IntegrityError
from core.vault.audit import AuditChain
from core.vault.database.faults import busy_error
from core.vault.database.tx import Tx
from core.vault.files.home import Home
from core.vault.head import Head, write_head
from core.vault.verification import OK, Check, CheckOutcome, VerificationReport, verify_vault

_NAMES = ["journal", "cipher", "integrity", "foreign_keys", "search", "counts", "audit", "head"]


def _filled(home: Home) -> Home:
    with kit.opened(home) as vault:
        kit.store_many(vault, 30)
        chain = AuditChain(kit.KEYS.audit)
        vault.write(lambda tx: chain.append_row(tx, "owner", "store"))

        def believe(tx: Tx) -> None:
            tx.insert("claims", kit.claim("c"))
            tx.insert("evidence", kit.evidence("v", "c"))
            tx.update("claims", {"id": "c"}, {"state": "asserted"})

        vault.write(believe)
    return home


def test_a_sound_vault(home: Home) -> None:
    told: list[str] = []
    with kit.opened(_filled(home)) as vault:
        report = verify_vault(vault, kit.KEYS, {"index": lambda: Check(CheckOutcome.OK, "10 of 10")}, told.append)
    assert told == list(report.checks) == [*_NAMES, "index"]
    assert {name: check.outcome for name, check in report.checks.items()} == dict.fromkeys(told, CheckOutcome.OK)
    assert report.as_json() == {
        "status": "ok",
        "checks": {
            name: {"status": "ok", "note": {"audit": "1 rows", "index": "10 of 10"}.get(name, "")} for name in told
        },
    }


def test_after_a_kill_the_log_is_checkpointed_before_the_file_is_judged(tmp_path: Path, home: Home) -> None:
    copy = kit.home_at(tmp_path / "copy")
    with kit.opened(home) as vault:
        kit.store_many(vault, 40)
        shutil.copytree(home.path, copy.path)
    with kit.opened(copy) as vault:
        assert vault.info.recovered_from_crash
        assert verify_vault(vault, kit.KEYS).status == "ok"


@pytest.mark.slow
def test_segments_that_were_merged_since_are_no_damage(home: Home) -> None:
    words = random.Random(7)
    with kit.opened(_filled(home), readers=1) as vault:
        assert verify_vault(vault, kit.KEYS).status == "ok"

        def fill(tx: Tx, first: int) -> None:
            for n in range(first, first + 100):
                kit.store(tx, n, " ".join(f"{words.choice('abcdefgh')}{words.randint(0, 300)}" for _ in range(12)))

        for first in range(100, 2_600, 100):
            vault.write(lambda tx, first=first: fill(tx, first))  # type: ignore[misc]
        assert verify_vault(vault, kit.KEYS).status == "ok"


@pytest.mark.parametrize(
    ("tamper", "check", "note"),
    [
        ("UPDATE claims SET evidence_count = 5", "counts", "evidence_counts 1"),
        ("UPDATE evidence SET stance = 'neutral'", "counts", "claims_without_evidence 1"),
        (
            "INSERT INTO embeddings VALUES ('memory', 999, 's', 'm', 1, x'0000', 1)",
            "counts",
            "vectors_without_memory 1",
        ),
        ("UPDATE vault_state SET purge_open = 1", "counts", "gate_open 1"),
        ("INSERT INTO memory_fts (rowid, terms) VALUES (999, 'x')", "search", "terms_without_memory 1"),
        ("DELETE FROM memory_fts WHERE rowid = 3", "search", "memories_without_terms 1"),
        ("UPDATE memories SET import_id = 'gone' WHERE n = 1", "foreign_keys", "1 rows"),
        ("UPDATE audit SET at = 0", "audit", "row 1 does not fit"),
        (
            "UPDATE memory_fts_data SET block = substr(block, 1, length(block) - 3) WHERE id > 10",
            "search",
            "1 problems",
        ),
    ],
)
def test_each_kind_of_damage_is_found_by_its_check(home: Home, tamper: str, check: str, note: str) -> None:
    connection = kit.raw(_filled(home).vault)
    for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        connection.execute(f'DROP TRIGGER "{name}"')
    connection.execute(tamper)
    connection.close()
    with kit.opened(home) as vault:
        report = verify_vault(vault, kit.KEYS)
    assert report.status == "damaged"
    assert report.checks[check] == Check(CheckOutcome.FAILED, note)
    others = {name for name, one in report.checks.items() if one.outcome is CheckOutcome.FAILED}
    assert others <= {check, "integrity"}


def test_an_older_copy_is_told_until_it_is_accepted(home: Home) -> None:
    _filled(home)
    write_head(home.head, kit.KEYS.head, kit.VAULT_ID, Head(999, kit.START_MS))
    with kit.opened(home) as vault:
        assert verify_vault(vault, kit.KEYS).checks["head"] == Check(CheckOutcome.FAILED, "older than last seen")
        for spoil in (lambda: home.head.write_bytes(b"x"), home.head.unlink):
            spoil()  # whoever does that now does not make the vault newer
            assert verify_vault(vault, kit.KEYS).checks["head"] == Check(CheckOutcome.FAILED, "older than last seen")
        vault.accept_older(lambda _tx, gone: gone)
        assert verify_vault(vault, kit.KEYS).status == "ok"


@pytest.mark.parametrize("state", ["missing", "damaged"])
def test_a_vault_that_nothing_vouches_for_is_not_called_whole(home: Home, state: str) -> None:
    _filled(home)
    home.head.write_bytes(b"x")
    if state == "missing":
        home.head.unlink()
    with kit.opened(home) as vault:
        assert verify_vault(vault, kit.KEYS).checks["head"] == Check(CheckOutcome.FAILED, state)


def test_what_could_not_be_looked_at_is_not_called_damaged(home: Home) -> None:
    def refuse() -> Check:
        raise busy_error()

    with kit.opened(_filled(home)) as vault:
        report = verify_vault(vault, kit.KEYS, {"index": refuse})
        assert report.checks["index"] == Check(CheckOutcome.NOT_CHECKED, Code.BUSY.value)
        assert report.status == "not_checked"
    closed = verify_vault(vault, kit.KEYS)
    outcomes = {name: check.outcome for name, check in closed.checks.items()}
    assert outcomes == {**dict.fromkeys(_NAMES, CheckOutcome.NOT_CHECKED), "head": CheckOutcome.OK}


def test_a_reader_in_the_way_of_the_checkpoint(home: Home) -> None:
    with kit.opened(_filled(home), readers=3) as vault:

        def during(rows: object) -> VerificationReport:
            kit.store_many(vault, 1, first=500)
            return verify_vault(vault, kit.KEYS)

        report = vault.read(lambda rows: (rows.value("SELECT count(*) FROM memories"), during(rows))[1])
        assert report.checks["journal"] == Check(CheckOutcome.NOT_CHECKED, "busy")
        assert report.status == "not_checked"
        assert verify_vault(vault, kit.KEYS).status == "ok"


def test_lost_changes_stay_in_the_report(tmp_path: Path, home: Home) -> None:
    copy = kit.home_at(tmp_path / "copy")
    with kit.opened(home) as vault:
        kit.store_many(vault, 5)
        shutil.copytree(home.path, copy.path)
    copy.shm.unlink()
    with copy.wal.open("r+b") as file:
        file.seek(32 + 24 + 100)
        file.write(b"\x55\xaa\x55")
    with kit.opened(copy) as vault:
        assert verify_vault(vault, kit.KEYS).checks["journal"] == Check(
            CheckOutcome.FAILED, "5 changes lost when the vault was opened"
        )


def test_statuses() -> None:
    failed, unknown = Check(CheckOutcome.FAILED), Check(CheckOutcome.NOT_CHECKED)
    assert VerificationReport({}).status == "ok"
    assert VerificationReport({"a": OK, "b": unknown}).status == "not_checked"
    assert VerificationReport({"a": failed, "b": unknown, "c": OK}).status == "damaged"


@pytest.mark.slow
def test_flipped_bits_anywhere_in_the_vault(home: Home) -> None:
    """Forty places: each is told when the vault is opened or when it is verified, and nothing crashes."""
    whole = _filled(home).vault.read_bytes()
    chance = random.Random(5)
    found: dict[str, int] = {"opening": 0, "verify": 0}
    for nr in range(40):
        position = nr % 16 if nr < 4 else chance.randrange(len(whole))
        damaged = bytearray(whole)
        damaged[position] ^= 1 << chance.randrange(8)
        home.vault.write_bytes(damaged)
        found[_judged(home)] += 1
    assert found["verify"] > found["opening"] > 0


def _judged(home: Home) -> str:
    try:
        vault = kit.open_at(home, readers=1)
    except IntegrityError:
        return "opening"
    report = verify_vault(vault, kit.KEYS)
    vault.close()
    assert report.status == "damaged"
    return "verify"


@pytest.mark.slow
def test_the_vault_refuses_to_give_out_what_is_damaged(home: Home) -> None:
    """No wrong text is ever shown: a page whose authentication fails is not read."""
    texts = {row[0] for row in _texts(_filled(home))}
    whole = home.vault.read_bytes()
    for page in range(1, len(whole) // 8192, 3):
        damaged = bytearray(whole)
        damaged[page * 8192 + 4000] ^= 16
        home.vault.write_bytes(damaged)
        with suppress(IntegrityError):
            assert {row[0] for row in _texts(home)} == texts


def _texts(home: Home) -> list[tuple[str, ...]]:
    with kit.opened(home, readers=1) as vault:
        return vault.read(lambda rows: rows.all("SELECT text FROM memories"))
