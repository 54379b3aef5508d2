"""What clients may bring: their grants, their ceilings, their spaces, their proposals."""

from __future__ import annotations

import pytest
from engine_rig import Rig, refused

from core.errors import Code
from core.types.values import Kind, Role, Source, Status


def test_a_proposal_waits_for_the_person(rig: Rig) -> None:
    claude = rig.client("Claude")
    reply = rig.store("The user likes tea", claude)
    assert (reply.operation, reply.deduplicated, reply.conflict is None) == ("PROPOSED", False, False)
    memory = rig.get(reply.memory_id)
    assert (memory.status, memory.status_reason, memory.space) == (Status.QUARANTINED, "proposed", "client:Claude")
    assert rig.rows("SELECT kind, state, incoming_id, existing_id, id FROM conflicts") == [
        ("proposal", "open", reply.memory_id, None, reply.conflict)
    ]
    assert rig.found("tea") == rig.found("tea", claude) == []
    assert rig.engine.vault.read_status().result(10).values["open_reviews"] == 1


def test_a_proposal_never_confirms_what_stands(rig: Rig) -> None:
    fact = rig.store("The user likes tea", space="client:Claude").memory_id
    claude = rig.client("Claude")
    reply = rig.store("The user likes tea", claude)
    assert (reply.operation, reply.deduplicated, reply.memory_id) == ("NOOP", True, fact)
    assert (rig.get(fact).corroboration, rig.rows("SELECT id FROM conflicts")) == (1, [])
    claim = {"subject": "user", "predicate": "likes", "value": "tea"}
    assert rig.store("The user likes tea", claude, claim=claim).operation == "PROPOSED"


def test_the_same_proposal_waits_once(rig: Rig) -> None:
    claude, other = rig.client("Claude"), rig.client("Other")
    long = "A long proposal about kites. " * 600
    for text in ("The user likes tea", long[:8000]):
        first = rig.store(text, claude)
        again = rig.store(text, claude, session="later")
        assert (again.operation, again.deduplicated, again.memory_id) == ("NOOP", True, first.memory_id)
    assert rig.store("The user likes tea", other).operation == "PROPOSED"
    assert rig.value("SELECT count(*) FROM conflicts WHERE state = 'open'") == 3


def test_forgetting_a_proposal_closes_its_review_and_undo_opens_it(rig: Rig) -> None:
    reply = rig.store("The user likes tea", rig.client("Claude"))
    step = rig.forget(reply.memory_id)
    assert rig.rows("SELECT id, state, closed_at IS NOT NULL FROM conflicts") == [(reply.conflict, "moot", 1)]
    assert rig.undo(step).left == ()
    assert rig.rows("SELECT id, state, closed_at FROM conflicts") == [(reply.conflict, "open", None)]


def test_a_client_without_a_grant_to_write(rig: Rig) -> None:
    reader = rig.client("Reader", "read")
    with refused(Code.ACCESS_DENIED):
        rig.store("Hello", reader)
    assert rig.texts(None) == []


def test_a_client_that_writes(rig: Rig) -> None:
    claude = rig.client("Claude", "read", "write")
    memory = rig.get(rig.store("The user likes tea", claude).memory_id)
    assert (memory.status, memory.source, memory.role) == (Status.ACTIVE, Source.INFERENCE, Role.ASSISTANT)
    assert (memory.client_id, memory.space, memory.trust) == (claude.client_id, "client:Claude", 0.5)
    assert rig.rows("SELECT actor FROM audit WHERE verb = 'store'") == [(f"client:{claude.client_id}",)]


@pytest.mark.parametrize(
    ("source", "trust"),
    [(Source.TOOL_OUTPUT, 0.85), (Source.USER_IMPLICIT, 0.7), (Source.DOCUMENT, 0.6)],
)
def test_trust_stays_under_the_ceiling(rig: Rig, source: Source, trust: float) -> None:
    claude = rig.client("Claude", "read", "write")
    assert rig.get(rig.store("Hello", claude, source=source).memory_id).trust == pytest.approx(trust)


def test_corroboration_stays_under_the_ceiling(rig: Rig) -> None:
    claude = rig.client("Claude", "read", "write")
    fact = rig.store("Hello", claude, source=Source.TOOL_OUTPUT, session="0").memory_id
    for session in range(1, 5):
        rig.store("Hello", claude, session=str(session))
    memory = rig.get(fact)
    assert (memory.corroboration, memory.trust) == (5, 0.85)


def test_no_client_speaks_as_the_system(rig: Rig) -> None:
    claude = rig.client("Claude", "read", "write", "speak_for_user")
    with refused(Code.FORBIDDEN_FIELD):
        rig.store("Hello", claude, source=Source.SYSTEM)
    known = rig.store("I like tea", claude).memory_id
    with refused(Code.FORBIDDEN_FIELD):
        rig.engine.memories.corroborate(known, claude, Source.SYSTEM)
    assert rig.texts() == ["I like tea"]


def test_only_with_the_grant_a_client_speaks_for_the_person(rig: Rig) -> None:
    claude = rig.client("Claude", "read", "write")
    with refused(Code.FORBIDDEN_FIELD):
        rig.store("I like tea", claude, source=Source.USER_EXPLICIT)
    proposer = rig.client("Proposer")
    with refused(Code.FORBIDDEN_FIELD):
        rig.store("I like tea", proposer, source=Source.USER_EXPLICIT)
    assert rig.texts(None) == []

    speaker = rig.client("Speaker", "read", "write", "speak_for_user")
    memory = rig.get(rig.store("I like tea", speaker, source=Source.USER_EXPLICIT).memory_id)
    assert (memory.source, memory.role, memory.trust) == (Source.USER_EXPLICIT, Role.USER, 0.9)
    assert rig.get(rig.store("Inferred", speaker).memory_id).source is Source.INFERENCE


@pytest.mark.parametrize(
    ("grants", "space", "is_let"),
    [
        (("read", "write"), "Work", False),
        (("read", "write"), "home", False),
        (("read", "write"), "client:Other", False),
        (("read", "write"), "nowhere", False),
        (("read", "write"), "GLOBAL", False),
        (("read", "write"), "client:Claude", True),
        (("read", "write", "space:Work"), "Work", True),
        (("read", "write", "all_spaces"), "Work", True),
        (("read", "write", "all_spaces"), "GLOBAL", False),
        (("read", "write", "all_spaces"), "nowhere", False),
        (("read", "propose"), "Work", False),
    ],
)
def test_where_a_client_may_write(rig: Rig, grants: tuple[str, ...], space: str, is_let: bool) -> None:
    rig.store("Ship it", space="Work")
    rig.client("Other")
    claude = rig.client("Claude", *grants)
    spaces = rig.rows("SELECT name FROM spaces ORDER BY name")
    if is_let:
        assert rig.get(rig.store("Hello", claude, space=space).memory_id).space == space
    else:
        with refused(Code.ACCESS_DENIED):
            rig.store("Hello", claude, space=space)
        assert "Hello" not in rig.texts(None)
    assert rig.rows("SELECT name FROM spaces ORDER BY name") == spaces


def test_a_client_s_text_has_a_limit_and_the_owner_s_has_none(rig: Rig) -> None:
    claude = rig.client("Claude", "read", "write")
    text = "word " * 1639  # 8,195 bytes
    with refused(Code.TEXT_TOO_LARGE):
        rig.store(text, claude)
    assert rig.store(text[:8190], claude).operation == "ADD"
    assert rig.store(text).operation == "ADD"


def test_a_revoked_or_unknown_client_is_refused(rig: Rig) -> None:
    claude = rig.client("Claude", "read", "write")
    rig.engine.clients.revoke("Claude").result(10)
    with refused(Code.UNAUTHENTICATED):
        rig.store("Hello", claude)
    with refused(Code.UNAUTHENTICATED):
        rig.recall("Hello", claude)
    ghost = type(claude)("client", "no-such-id", "Ghost")
    with refused(Code.UNAUTHENTICATED):
        rig.store("Hello", ghost)
    assert rig.texts(None) == []


def test_an_episode_of_a_client_is_not_merged(rig: Rig) -> None:
    claude = rig.client("Claude", "read", "write")
    ids = {rig.store("Hello", claude, kind=Kind.EPISODE).memory_id for _ in range(2)}
    assert len(ids) == 2


def test_forgetting_needs_the_grant_and_the_reach(rig: Rig) -> None:
    mine = rig.store("The user's secret").memory_id
    writer, curator = rig.client("Writer", "read", "write"), rig.client("Curator", "read", "curate")
    with refused(Code.ACCESS_DENIED):
        rig.forget(mine, writer)
    with refused(Code.NOT_FOUND):
        rig.forget(mine, curator)
    assert rig.texts() == ["The user's secret"]
    said = rig.store("For everybody", space="GLOBAL").memory_id
    with refused(Code.ACCESS_DENIED):  # a client never decides against what the person said
        rig.forget(said, curator)
    shared = rig.store("From a leaflet", space="GLOBAL", source=Source.DOCUMENT).memory_id
    rig.forget(shared, curator)
    assert rig.get(shared).status is Status.DELETED
    with refused(Code.NOT_FOUND):
        rig.forget(shared, curator)
