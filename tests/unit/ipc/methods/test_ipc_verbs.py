"""Every verb's JSON, run in process as the command line does."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ipc_engine import ROOT, VAULT_ID, FakeEngine
from ipc_values import make_client, make_memory
from ipc_world import REGISTRY

from core.errors import Code, LociError, UserError
from core.ipc.methods.table import METHODS, run_verb
from core.ipc.protocol.call_progress import CallProgress
from core.security.handshake import encode_value
from core.types.requests import StoreRequest
from core.types.values import Kind, Source
from core.types.views import Revision

VERBS = sorted(
    name.removeprefix("owner.") for name, entry in METHODS.items() if entry.who == "owner" and entry.run is not None
)


@pytest.fixture
def engine() -> FakeEngine:
    engine = FakeEngine()
    engine.memories.rows += [make_memory(1), make_memory(2, client_id="id-plug")]
    engine.clients.add(make_client("plug", ["read", "space:work"]))
    engine.clients.nos.add("odd one")
    engine.changes.at_once = True
    return engine


def run(engine: FakeEngine, verb: str, **params: Any) -> dict[str, Any]:
    found = asyncio.run(run_verb(engine.real, REGISTRY, verb, params, CallProgress()))
    engine.join()
    for problem in REGISTRY.result_checker(f"owner.{verb}").iter_errors(found):
        raise AssertionError(f"{verb}: {problem.message}")
    return found


ID = make_memory(1).id
CALLS: dict[str, dict[str, Any]] = {
    "import": {"path": "/x.jsonl"},
    "unimport": {"import_id": "import-1"},
    "remember": {"text": "tea"},
    "recall": {"query": "tea", "explain": True},
    "context": {"prompt": "tea", "token_budget": 100},
    "list": {},
    "show": {"id": ID},
    "history": {"id": ID},
    "forget": {"id": ID},
    "erase": {"id": ID},
    "conflicts": {"all": True},
    "resolve": {"id": "conflict-1", "action": "supersede"},
    "confirm": {"id": ID},
    "dispute": {"id": ID, "reason": "moved"},
    "reinforce": {"id": ID},
    "mark": {"id": ID, "outcome": "harmful", "note": "It broke the build."},
    "undo": {},
    "steps": {},
    "status": {},
    "jobs": {"limit": 5},
    "consolidate": {"dry_run": True},
    "sweep": {},
    "verify": {},
    "lock": {},
    "older_copy": {},
    "accept_older": {},
    "unlock": {"vault": encode_value(VAULT_ID), "key": encode_value(ROOT)},
    "backup": {"to": "/b.db"},
    "pair": {"name": "new", "grants": ["read"]},
    "grant": {"name": "plug", "grants": ["space:home"]},
    "pause": {"name": "plug"},
    "resume": {"name": "plug"},
    "revoke": {"name": "plug"},
    "clients": {},
    "allow_again": {"name": "Odd One"},
    "turn_down": {"name": "plug"},
    "edit": {"id": ID, "text": "green tea"},
    "pin": {"id": ID},
    "tag": {"id": ID, "add": ["drinks"], "remove": ["food"]},
    "spaces": {},
    "export": {},
    "exported": {"ids": [ID]},
    "passphrase": {"old": "one", "new": "two"},
    "recovery_code": {"secret": "one"},
    "log": {"name": "plug", "limit": 1},
}


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_answers_as_its_schema_says(engine: FakeEngine, verb: str) -> None:
    assert run(engine, verb, **CALLS[verb])


def test_the_end_of_an_id_is_enough_for_the_owner(engine: FakeEngine) -> None:
    run(engine, "pin", id=ID[-8:], off=True)
    run(engine, "tag", id=ID[-8:], add=["drinks"])
    assert engine.library.revisions == [
        ((ID,), Revision(pinned=False)),
        ((ID,), Revision(add_tags=("drinks",))),
    ]
    assert run(engine, "show", id=ID[-8:])["id"] == ID


def test_what_is_exported_is_found_as_the_library_finds_it(engine: FakeEngine) -> None:
    assert run(engine, "export", to="/e.csv", format="csv", space="home", status=["archived", "active"]) == {
        "path": "/e.csv", "format": "csv", "memories": 2,
    }  # fmt: skip
    run(engine, "export", status="all")
    assert engine.library.searches == ["space:home status:archived status:active", "status:all"]
    with pytest.raises(UserError, match="E2005"):
        run(engine, "export", space="nowhere")


def test_an_unknown_client_of_a_log_is_a_wrong_value(engine: FakeEngine) -> None:
    assert run(engine, "log", limit=1)["next"] == "further"
    with pytest.raises(UserError, match="E4005"):
        run(engine, "log", name="nobody")


def test_a_new_recovery_code_holds_once_it_is_confirmed(engine: FakeEngine) -> None:
    code = run(engine, "recovery_code", secret="one")["recovery_code"]
    assert run(engine, "recovery_code", confirm=code) == {"holds": True}
    assert run(engine, "recovery_code", confirm="another") == {"holds": False}
    with pytest.raises(UserError, match="E4005"):
        run(engine, "recovery_code")


def test_a_remembered_no_is_seen_and_can_be_forgotten(engine: FakeEngine) -> None:
    assert [one["name"] for one in run(engine, "clients")["denied"]] == ["odd one"]
    run(engine, "allow_again", name="Odd One")
    assert run(engine, "clients")["denied"] == []
    with pytest.raises(UserError, match="E2005"):
        run(engine, "allow_again", name="Odd One")


def test_all_that_one_client_asked_for_is_turned_down_by_its_name(engine: FakeEngine) -> None:
    assert run(engine, "turn_down", name="plug") == {"name": "plug", "step": "step-3", "items": 500, "left": 0}
    assert engine.conflicts.turned == ["plug"]


def test_remember_hands_everything_on(engine: FakeEngine) -> None:
    found = run(
        engine,
        "remember",
        text="tea",
        kind="rule",
        category="taste",
        importance=0.7,
        tags=["a"],
        space="work",
        source="document",
        time="2024-02-01",
        ref="r",
        request_id="q",
        claim={"subject": "I", "predicate": "likes", "value": "tea"},
    )
    assert found["classification"] == {"label": "NEW", "confidence": 1.0, "by": "rules"}
    request, actor = engine.memories.stores[0]
    assert actor.is_owner
    assert request.occurred is not None
    assert request == StoreRequest(
        text="tea",
        kind=Kind.RULE,
        category="taste",
        importance=0.7,
        tags=("a",),
        space="work",
        source=Source.DOCUMENT,
        occurred=request.occurred,
        ref="r",
        request_id="q",
        claim={"subject": "I", "predicate": "likes", "value": "tea"},
    )


def test_recall_shape(engine: FakeEngine) -> None:
    found = run(engine, "recall", query="tea", space="home", status=["active", "archived"], as_of="2024-01-01", limit=1)
    query, _ = engine.memories.recalls[0]
    assert (query.spaces, query.statuses, query.limit) == (("home",), ("active", "archived"), 1)
    assert query.as_of_ms == 1_704_153_599_999
    assert found["near_misses"] == [
        {"id": "m-1", "why": "below_bar", "sentence": "It is below the bar.", "status": "active", "score": 0.3}
    ]
    assert (found["took_ms"], found["strategy"], found["abstained"]) == (1.25, "hybrid", False)


def test_steps_tell_what_can_be_undone(engine: FakeEngine) -> None:
    found = run(engine, "steps", limit=1, after=ID)
    assert engine.journal.asked == [(ID, 1)]
    assert (found["total"], found["next"]) == (2, "step-1")
    (step,) = found["items"]
    assert (step["id"], step["label"], step["at"]) == ("step-1", "Forget a memory", "2023-11-14T22:13:20Z")
    assert (step["client"], step["undone"], step["can_undo"]) == ("plug", False, True)


def test_list_of_all_statuses(engine: FakeEngine) -> None:
    found = run(engine, "list", status="all", limit=1)
    assert engine.memories.lists[0].statuses is None
    assert (found["total"], len(found["items"])) == (2, 1)
    assert found["next"] == found["items"][0]["id"]
    assert found["items"][0]["client"] == "plug"


def test_show_keeps_secrets_and_writes_times(engine: FakeEngine) -> None:
    found = run(engine, "show", id=ID)
    assert found["claims"][0]["valid_from"] == "2023-11-14T22:13:20Z"
    assert found["provenance"]["sources"] == [{"lineage": "owner", "at": "2023-11-14T22:13:20Z"}]
    assert found["trust_terms"] == [{"term": "base", "value": 1.0}]


def test_an_import_reports_and_may_be_rehearsed(engine: FakeEngine) -> None:
    told: list[tuple[str, int, int | None]] = []
    progress = CallProgress(lambda label, done, total: told.append((label, done, total)))
    call = run_verb(engine.real, REGISTRY, "import", {"path": "/x", "space": "work"}, progress)
    found = asyncio.run(call)
    engine.join()
    assert told == [("Importing", step, 3) for step in range(3)]
    assert engine.imports.runs == [(Path("/x"), None, "work")]
    assert found["import_id"] == "import-1"
    assert (found["earliest"], found["latest"]) == ("2024-01-01T00:00:00.000Z", None)
    assert found["messages"] == {"user": 2, "assistant": 1, "other": 0}
    assert run(engine, "import", path="/x", dry_run=True)["import_id"] is None
    assert len(engine.imports.runs) == 1


def test_clients_never_show_a_token(engine: FakeEngine) -> None:
    found = run(engine, "clients")
    (client,) = found["clients"]
    assert client["grants"] == ["read", "space:work"]
    assert client["limits"] == {"searches_per_minute": 20, "searches_per_session": 200}
    assert "token" not in client
    assert client["state"] == "paired"


@pytest.mark.parametrize(
    ("verb", "params", "code"),
    [
        ("import", {"path": "relative.jsonl"}, Code.INVALID_INPUT),
        ("backup", {"to": "b.db"}, Code.INVALID_INPUT),
        ("recall", {"query": "  "}, Code.INVALID_QUERY),
        ("recall", {"query": "x", "after": "gone"}, Code.INVALID_INPUT),
        ("remember", {"text": "a\0b"}, Code.INVALID_INPUT),
        ("remember", {"text": "a\ud800"}, Code.INVALID_INPUT),
        ("remember", {"text": "x", "time": "soon"}, Code.INVALID_INPUT),
        ("remember", {"text": "x", "importance": 2}, Code.INVALID_INPUT),
        ("show", {"id": "nobody"}, Code.NOT_FOUND),
        ("unlock", {"vault": encode_value(b"x" * 16), "key": encode_value(ROOT)}, Code.WRONG_SECRET),
        ("restore", {}, Code.UNKNOWN_METHOD),
    ],
)
def test_refusals(engine: FakeEngine, verb: str, params: dict[str, Any], code: Code) -> None:
    with pytest.raises(LociError) as caught:
        run(engine, verb, **params)
    assert caught.value.code is code


def test_unlock_checks_the_key() -> None:
    engine = FakeEngine("locked")
    with pytest.raises(LociError) as caught:
        run(engine, "unlock", vault=encode_value(VAULT_ID), key=encode_value(b"x" * 32))
    assert caught.value.code is Code.WRONG_SECRET
    assert run(engine, "unlock", vault=encode_value(VAULT_ID), key=encode_value(ROOT)) == {"state": "open"}


def test_erase_tells_first_and_takes_what_was_asked(engine: FakeEngine) -> None:
    told = run(engine, "erase", id=ID, dry_run=True)
    assert (told["erased"], told["memories"], told["versions"], engine.memories.erased) == (False, 1, 1, [])
    assert "text" not in told["items"][0]
    done = run(engine, "erase", id=ID, whole_chain=True)
    assert (done["erased"], done["memories"], done["backups"]) == (True, 2, ["b.tar"])
    assert engine.memories.erased == [((ID,), True)]


def test_a_mark_goes_to_the_rule_or_the_procedure(engine: FakeEngine) -> None:
    told = run(engine, "mark", id=ID, outcome="harmful", note="It broke the build.")
    assert (told["rule"]["harmful"], told["rule"]["maturity"], told["inverted"]) == (1, "candidate", False)
    assert run(engine, "mark", id=ID, outcome="helpful")["rule"]["helpful"] == 1
    assert run(engine, "mark", id=ID, outcome="failed")["procedure"]["failures"] == 1
    assert run(engine, "mark", id=ID, outcome="worked")["procedure"]["successes"] == 1
    assert [said[1:] for said in engine.practice.said] == [
        ("harmful", "It broke the build."),
        ("helpful", None),
        ("failed", None),
        ("worked", None),
    ]
    for wrong in ({"outcome": "helpful", "note": "x"}, {"outcome": "splendid"}):
        with pytest.raises(UserError) as caught:
            run(engine, "mark", id=ID, **wrong)
        assert caught.value.code is Code.INVALID_INPUT


def test_grants_are_given_and_taken_and_the_rest_stays(engine: FakeEngine) -> None:
    done = run(engine, "grant", name="plug", grants=["write", "space:home"], take=["space:work"])
    assert done == {"client": "plug", "grants": ["read", "write", "space:home"], "step": "step-1", "new_spaces": []}
    assert run(engine, "grant", name="plug", grants=["write"])["step"] is None
    assert engine.clients.records["plug"].limit_session == 200


@pytest.mark.parametrize("verb", ["pair", "grant"])
def test_a_space_that_a_grant_makes_is_told(engine: FakeEngine, verb: str) -> None:
    name = {"pair": "newcomer", "grant": "plug"}[verb]
    reply = run(engine, verb, name=name, grants=["read", "space:hoem", "space:home", "space:hoem"])
    assert reply["new_spaces"] == ["hoem"]
    assert "space:hoem" in reply["grants"]


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"name": "nobody", "grants": ["read"]}, Code.NOT_FOUND),
        ({"name": "@owner", "grants": ["read"]}, Code.NOT_FOUND),
        ({"name": "plug"}, Code.INVALID_INPUT),
        ({"name": "plug", "grants": ["read"], "take": ["read"]}, Code.INVALID_INPUT),
    ],
)
def test_grants_that_cannot_be_changed(engine: FakeEngine, params: dict[str, Any], code: Code) -> None:
    with pytest.raises(LociError) as caught:
        run(engine, "grant", **params)
    assert caught.value.code is code


def test_who_pairs_a_name_anew_is_told_whose_memories_it_takes_up(engine: FakeEngine) -> None:
    engine.clients.records["plug"] = replace(engine.clients.records["plug"], revoked=True)
    assert run(engine, "pair", name="plug")["former"] is True
    assert run(engine, "pair", name="another")["former"] is False
