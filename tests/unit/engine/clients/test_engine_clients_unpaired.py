"""A token that is out of force never comes back: an undo leaves the client paused, to be paired anew."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future

import pytest
from engine_rig import HandClock, Rig, refused

from core.errors import Code, UserError
from core.types.clients import Before, Change, ClientRecord, ClientState, Terms


def known(rig: Rig, name: str = "Claude") -> ClientRecord:
    record = rig.engine.authority.token_for(name)
    assert record is not None
    return record


def step_of(rig: Rig, verb: str) -> str:
    return str(rig.rows("SELECT id FROM undo_steps WHERE verb = ? ORDER BY rowid DESC LIMIT 1", verb)[0][0])


def standing(rig: Rig) -> ClientState:
    return rig.engine.clients.read_card("Claude").result(10).standing


def test_the_undo_of_a_revocation_brings_the_client_back_paused_and_its_token_never(rig: Rig) -> None:
    claude = rig.client("Claude", "read", "write", "space:Work")
    stolen = known(rig).token
    rig.engine.clients.revoke("Claude").result(10)
    report = rig.undo()
    assert (report.label, report.unpaired, report.left) == ("Revoke a client", ("Claude",), ())
    back = known(rig)
    assert back.token != stolen
    assert (back.paused, back.revoked, back.spaces) == (True, False, ("Work",))
    assert standing(rig) is ClientState.UNPAIRED
    with refused(Code.UNAUTHENTICATED):
        rig.store("Not now", claude)
    with refused(Code.INVALID_INPUT):
        rig.engine.clients.resume("Claude").result(10)
    assert rig.engine.clients.resume_all().result(10) == ""
    assert rig.engine.clients.describe_unpaired("claude").result(10) == Before(former=True)
    assert rig.engine.clients.pair("Claude", ["read"]).result(10).token not in (stolen, back.token)
    assert standing(rig) is ClientState.AWAKE


def test_there_and_back_again_brings_no_token_either(rig: Rig) -> None:
    rig.client("Claude", "read")
    tokens = [known(rig).token]
    rig.engine.clients.revoke("Claude").result(10)
    step = rig.undo().undo_step_id
    for _ in range(3):
        tokens.append(known(rig).token)
        assert standing(rig) is ClientState.UNPAIRED
        redo = rig.undo(step)
        assert (known(rig).revoked, redo.unpaired) == (True, ())
        report = rig.undo(redo.undo_step_id)
        assert report.unpaired == ("Claude",)
        step = report.undo_step_id
    assert known(rig).token not in tokens[:1]


def test_a_pairing_that_is_taken_back_and_brought_back_is_to_be_done_again(rig: Rig) -> None:
    rig.client("Claude", "read")
    token = known(rig).token
    gone = rig.undo(step_of(rig, "pair"))
    assert rig.engine.authority.token_for("Claude") is None
    assert rig.undo(gone.undo_step_id).unpaired == ("Claude",)
    assert known(rig).token != token
    assert standing(rig) is ClientState.UNPAIRED


def test_who_is_unpaired_is_no_client_that_is_counted_and_resuming_says_so(rig: Rig) -> None:
    rig.client("Claude", "read")
    assert rig.engine.vault.read_status().result(10).values["clients"] == 1
    rig.engine.clients.revoke("Claude").result(10)
    rig.undo(step_of(rig, "revoke"))
    assert rig.engine.vault.read_status().result(10).values["clients"] == 0
    with pytest.raises(UserError, match="unpaired"):
        rig.engine.clients.resume("Claude").result(10)


def test_pairing_a_name_in_use_names_the_command_that_changes_its_grants(rig: Rig) -> None:
    rig.client("Claude", "read")
    with pytest.raises(UserError, match=r"Claude is paired already; `loci grant`"):
        rig.engine.clients.pair("Claude", ["write"]).result(10)


def test_the_token_of_a_second_pairing_does_not_come_back_with_its_redo(rig: Rig) -> None:
    rig.client("Claude", "read")
    rig.engine.clients.revoke("Claude").result(10)
    second = rig.engine.clients.pair("Claude", ["read"]).result(10).token
    undone = rig.undo(step_of(rig, "pair"))
    assert known(rig).revoked
    assert rig.undo(undone.undo_step_id).unpaired == ("Claude",)
    assert known(rig).token != second


def test_what_it_was_granted_with_a_newer_pairing_stays_whatever_older_is_taken_back(rig: Rig) -> None:
    assert isinstance(rig.clock, HandClock)
    rig.client("Claude", "read", "write", "space:Work")
    first, clients = step_of(rig, "pair"), rig.engine.clients
    clients.change_terms("Claude", Change(("propose",), ("write",))).result(10)
    second = step_of(rig, "regrant")
    clients.revoke("Claude").result(10)
    rig.clock.advance(1)
    token = clients.pair("Claude", ["read", "propose", "space:Work"]).result(10).token
    before = known(rig)
    for step in (second, first):
        report = rig.undo(step)
        assert {row["table"] for row in report.left} >= {"grants"}
        assert known(rig) == before
    assert rig.value("SELECT count(*) FROM spaces WHERE name IN ('client:Claude', 'Work')") == 2
    assert (known(rig).token, standing(rig)) == (token, ClientState.AWAKE)
    # Taken back from the newest on, it goes as it came.
    clients.change_terms("Claude", Change(("curate",))).result(10)
    rig.undo(step_of(rig, "regrant"))
    assert known(rig) == before
    rig.undo(rig.rows("SELECT id FROM undo_steps WHERE verb = 'pair' ORDER BY rowid DESC LIMIT 1")[0][0])
    assert known(rig).revoked


def test_of_two_pairings_in_one_millisecond_the_newer_is_left_alone(rig: Rig) -> None:
    clients = rig.engine.clients
    rig.client("Claude", "read", "write", "space:Work")
    first = step_of(rig, "pair")
    clients.revoke("Claude").result(10)
    clients.pair("Claude", ["read", "propose", "space:Work"]).result(10)
    newer, before = step_of(rig, "pair"), known(rig)
    assert rig.value("SELECT count(DISTINCT at) FROM undo_steps WHERE id IN (?, ?)", first, newer) == 1
    report = rig.undo(first)
    assert {row["table"] for row in report.left} >= {"grants"}
    assert known(rig) == before
    # What was changed after it, in the same millisecond too, is taken back as always.
    clients.change_terms("Claude", Change(("curate",))).result(10)
    rig.undo(step_of(rig, "regrant"))
    assert known(rig) == before
    rig.undo(newer)
    assert known(rig).revoked


def test_many_steps_at_once_bring_no_token_back_and_name_who_is_to_be_paired(rig: Rig) -> None:
    rig.client("Claude", "read")
    token = known(rig).token
    rig.engine.clients.revoke("Claude").result(10)
    back = rig.engine.history.undo_back_to(step_of(rig, "revoke"), preview=False).result(10)
    assert back.unpaired == ("Claude",)
    assert known(rig).token != token


def test_back_to_before_it_was_paired_leaves_nothing_of_it(rig: Rig) -> None:
    before = rig.dump()
    rig.client("Claude", "read")
    rig.engine.clients.revoke("Claude").result(10)
    back = rig.engine.history.undo_back_to(step_of(rig, "pair"), preview=False).result(10)
    assert (back.unpaired, sum(len(report.left) for report in back.reports)) == ((), 0)
    assert rig.dump() == before


def test_a_pause_and_other_terms_come_back_with_the_token_they_had(rig: Rig) -> None:
    rig.client("Claude", "read")
    token = known(rig).token
    terms = Terms(("read", "write"), 5, 50)
    clients = rig.engine.clients
    deeds: list[Callable[[], Future[str]]] = [
        lambda: clients.pause("Claude"),
        lambda: clients.change_terms("Claude", terms),
    ]
    for deed in deeds:
        assert rig.undo(deed().result(10)).unpaired == ()
        assert known(rig).token == token
        assert standing(rig) is ClientState.AWAKE
