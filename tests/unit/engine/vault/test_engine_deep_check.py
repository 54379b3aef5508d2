"""The deep check: every vector, key files, certificates, copies; what it finds and what it says it cannot tell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from engine_rig import Rig, error_of

from core.errors import Code
from core.types.memory import ErasureRequest, ErasureSubject
from core.vault.files.home import PAGE_SIZE

TEXTS = ("Ada keeps bees", "The lamp is lit at dusk.", "Tea is drunk at six.")


@pytest.fixture
def filled(rig: Rig) -> Rig:
    for text in TEXTS:
        rig.store(text)
    return rig


def check(rig: Rig) -> dict[str, Any]:
    return rig.engine.vault.verify(deep=True).result(60)


def outcome(rig: Rig, name: str) -> tuple[str, str]:
    found = check(rig)["checks"][name]
    return found["status"], found["note"]


def test_everything_is_in_order_and_what_cannot_be_told_is_said(filled: Rig) -> None:
    filled.engine.vault.backup().result(60)
    filled.engine.erasures.erase(ErasureRequest(ErasureSubject.MEMORY, (filled.store("Old news.").memory_id,))).result(
        60
    )
    seen: list[str] = []
    found = filled.engine.vault.verify(deep=True, report=lambda name, *_: seen.append(name)).result(60)
    assert found["status"] == "ok"
    assert {"cipher", "integrity", "audit", "vectors", "certificates", "key_files", "copies"} <= set(found["checks"])
    assert list(dict.fromkeys(seen)) == list(found["checks"])
    assert found["checks"]["vectors"]["note"] == "3 vectors compared"
    assert found["checks"]["copies"]["note"].startswith("1 sound")
    assert found["not_looked_at"] == ["texts", "copies_elsewhere", "both_put_back"]
    assert "vectors" not in filled.verify()["checks"]


def test_a_vector_that_was_changed_is_found(filled: Rig) -> None:
    size = int(filled.value("SELECT length(vector) FROM embeddings LIMIT 1"))
    filled.write(lambda tx: tx.run("UPDATE embeddings SET vector = ? WHERE n = 2", (bytes(size),)))
    assert outcome(filled, "vectors")[0] == "failed"


def test_a_certificate_that_was_changed_is_found(filled: Rig) -> None:
    gone = filled.store("Old news.").memory_id
    filled.engine.erasures.erase(ErasureRequest(ErasureSubject.MEMORY, (gone,))).result(60)
    filled.write(
        lambda tx: tx.run(
            "UPDATE settings SET value = json_set(value, '$.pages_left', 9) WHERE key GLOB 'erasure_certificate:*'"
        )
    )
    assert outcome(filled, "certificates") == ("failed", "1 of 1 were changed")


@pytest.mark.parametrize("damage", ["removed", "damaged"])
def test_a_key_file_that_is_missing_or_damaged_is_found(filled: Rig, damage: str) -> None:
    second = filled.home.keys.with_name("vault.keys.bak")
    if damage == "removed":
        second.unlink(missing_ok=True)
    else:
        second.write_bytes(b"nothing")
    assert outcome(filled, "key_files") == ("failed", "vault.keys.bak missing or damaged")


def test_a_damaged_backup_is_found(filled: Rig) -> None:
    path = Path(filled.engine.vault.backup().result(60)["path"])
    raw = bytearray(path.read_bytes())
    raw[-3 * PAGE_SIZE] ^= 1
    path.write_bytes(raw)
    assert outcome(filled, "copies")[0] == "failed"


def test_it_is_cancelled_between_its_parts(filled: Rig) -> None:
    seen: list[str] = []
    stopped = filled.engine.vault.verify(
        deep=True, report=lambda name, *_: seen.append(name), is_cancelled=lambda: len(seen) > 2
    )
    assert error_of(stopped).code is Code.CANCELLED
    assert len(seen) == 3
