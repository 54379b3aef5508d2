"""The golden vault of version 1 in a running engine: what the owner told an older Loci is the owner's word still."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from desk_rig import decide
from engine_rig import HandClock, Rig, rig_at
from readers_rig import Table

from core.engine.imports.comparison import compare_imported
from core.types.replies import StoreReply
from core.types.values import Action

_GOLDEN = Path(__file__).resolve().parents[3] / "vaults" / "v1"
_ROOT = bytes(range(32))
_MADE_MS, _DAY_MS = 1_760_000_000_000, 86_400_000
_LISBON, _PORTO = "Ada moved to Lisbon in March.", "Ada lives in Porto."


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    table = Table(claims={_LISBON: ("Ada", "lives_in", "Lisbon"), _PORTO: ("Ada", "lives_in", "Porto")})
    shutil.copytree(_GOLDEN, tmp_path / "home")
    (tmp_path / "home").chmod(0o700)
    for path in (tmp_path / "home").iterdir():
        path.chmod(0o600)
    with rig_at(tmp_path, clock=HandClock(_MADE_MS + 30 * _DAY_MS), root=_ROOT, readers=table.readers) as made:
        yield made


def _status(rig: Rig, text: str) -> str:
    return str(rig.value("SELECT status FROM memories WHERE text = ?", text))


def _claim(rig: Rig) -> str:
    return str(rig.value("SELECT state FROM claims WHERE predicate = 'lives_in' AND value = 'Lisbon'"))


def _told(rig: Rig) -> StoreReply:
    """A client tells what cannot be true beside the owner's word."""
    client = rig.client("aster", "read", "write", "space:home")
    claim = {"subject": "Ada", "predicate": "lives_in", "value": "Porto", "exclusive": True}
    return rig.store(_PORTO, client, claim=claim, space="home")


def test_the_owners_word_of_an_older_vault_is_not_held_back(rig: Rig) -> None:
    compare_imported(rig.opened.storage, rig.opened.search)
    reply = _told(rig)
    assert (reply.operation, _status(rig, _LISBON), _status(rig, _PORTO)) == ("QUARANTINE", "active", "quarantined")


def test_an_older_vault_takes_a_decision_and_its_undo(rig: Rig) -> None:
    compare_imported(rig.opened.storage, rig.opened.search)
    reply = _told(rig)
    assert reply.conflict is not None
    decide(rig, reply.conflict, Action.SUPERSEDE)
    assert (_status(rig, _LISBON), _status(rig, _PORTO), _claim(rig)) == ("superseded", "active", "superseded")
    rig.undo()
    assert (_status(rig, _LISBON), _status(rig, _PORTO), _claim(rig)) == ("active", "quarantined", "asserted")
    assert rig.value("SELECT state FROM conflicts WHERE id = ?", reply.conflict) == "open"
    assert rig.verify()["status"] == "ok"
