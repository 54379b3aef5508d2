"""The owner's verbs in process, on the real engine: the shape of every answer, and what is handed to the engine."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from desk_rig import make_pair
from engine_rig import PASSPHRASE, Rig, facts, rig_at, talk
from ipc_peers import REGISTRY, refusal_of
from ipc_served import Served, listen
from memory_ring import Ring
from talk_rig import TALK, bring_talk, plain_reader

from core.errors import Code, LociError
from core.ipc.methods import maintenance
from core.ipc.methods.definition.entry import CallProgress
from core.ipc.methods.table import METHODS
from core.recall.browse import library
from core.security.handshake import encode_value
from core.security.keyring_client import KeyringCause
from core.security.passphrase import KdfCost
from core.types.requests import StoreRequest
from core.types.sensitivity import SensitiveType
from core.types.values import Kind, Source
from core.types.views import Revision

VERBS = sorted(
    name.removeprefix("owner.") for name, entry in METHODS.items() if entry.who == "owner" and entry.run is not None
)


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path, talk=plain_reader()) as made:
        yield made


def run(rig: Rig, verb: str, progress: CallProgress | None = None, **params: Any) -> dict[str, Any]:
    work = METHODS[REGISTRY.find_method(f"owner.{verb}").name].answer_owner(
        rig.engine, REGISTRY, params, progress or CallProgress()
    )
    found = asyncio.run_coroutine_threadsafe(work, rig.engine.loop).result(60)
    for problem in REGISTRY.result_checker(f"owner.{verb}").iter_errors(found):
        raise AssertionError(f"{verb}: {problem.message}")
    return found


def code_of(rig: Rig, verb: str, **params: Any) -> Code:
    with pytest.raises(LociError) as caught:
        run(rig, verb, **params)
    return caught.value.code


def calls(rig: Rig, verb: str) -> dict[str, Any]:
    """What a verb is called with, once what it needs is there."""
    ident = rig.store("Tea is drunk at six.").memory_id
    rig.client("plug", "read", "write", "sensitive", "space:work")
    of_a_client = {"name": "plug"}
    plain: dict[str, dict[str, Any]] = {
        "import": {"path": str(rig.write_rows(facts(3)))},
        "remember": {"text": "tea"},
        "recall": {"query": "tea", "explain": True},
        "context": {"prompt": "tea", "token_budget": 100},
        "dispute": {"id": ident, "reason": "moved"},
        "conflicts": {"all": True},
        "jobs": {"limit": 5},
        "sensitive": {"types": ["health", "iban"]},
        "consolidate": {"dry_run": True},
        "unlock": {"vault": encode_value(rig.engine.vault_id), "key": encode_value(rig.root)},
        "backup": {"to": str(rig.folder / "b.tar")},
        "pair": {"name": "new", "grants": ["read"]},
        "grant": {"name": "plug", "grants": ["space:home"]},
        "edit": {"id": ident, "text": "Tea is drunk at five."},
        "tag": {"id": ident, "add": ["drinks"], "remove": ["food"]},
        "exported": {"ids": [ident]},
        "tier": {"id": ident, "tier": "sensitive"},
        "disclose": {"name": "plug", "minutes": 5},
        "export_encrypted": {"to": str(rig.folder / "all.loci"), "passphrase": "twelve o'clock in the kitchen"},
        "passphrase": {"old": PASSPHRASE, "new": "marzipan-quinquagesima"},
        "recovery_code": {"secret": PASSPHRASE},
        "rotate_keys": {"secret": PASSPHRASE},
        "log": {"name": "plug", "limit": 1},
        "sync": {"action": "pair", "folder": str(rig.folder)},
        "seal_key": {"action": "new", "passphrase": "a second secret"},
        **dict.fromkeys(("pause", "resume", "revoke", "turn_down"), of_a_client),
        **{name: {"id": ident} for name in ("show", "history", "forget", "erase", "confirm", "reinforce", "pin")},
    }
    if verb == "watch":
        (rig.folder / "notes").mkdir()
        (rig.folder / "notes" / "tea.md").write_text("Tea is drunk at seven on Sundays.")
        return {"action": "add", "path": str(rig.folder / "notes")}
    if verb == "unimport":
        return {"import_id": rig.bring(facts(3)).import_id}
    if verb == "resolve":
        return {"id": make_pair(rig).item, "action": "supersede"}
    if verb in ("certificate", "rewrite_backups"):
        return {"id": run(rig, "erase", id=ident)["certificate"]["id"]}
    if verb == "mark":
        rule = rig.store("Boil water first.", kind=Kind.RULE).memory_id
        return {"id": rule, "outcome": "harmful", "note": "It broke the pot."}
    if verb == "keyring":
        rig.engine._keys.keyring = Ring()
        return {"secret": PASSPHRASE, "use": True}
    if verb == "receipt":
        return {"id": run(rig, "recall", query="tea")["receipt"]}
    if verb in _CALLS:
        return _CALLS[verb](rig, verb, ident)
    if verb == "allow_again":
        rig.engine.clients.deny("odd one").result(30)
        return {"name": "Odd One"}
    return plain.get(verb, {})


def _seal_call(rig: Rig, verb: str, ident: str) -> dict[str, Any]:
    rig.engine.seal.set_up("a second secret").result(30)
    if verb != "seal":
        rig.engine.seal.seal([ident]).result(30)
    if verb in ("sealed", "rewrite_sealed_copies"):
        return {}
    return {"query": "tea"} if verb == "find_sealed" else {"id": ident}


def _file_call(rig: Rig, verb: str, _ident: str) -> dict[str, Any]:
    note = rig.folder / "tea.txt"
    note.write_text("Tea is drunk at seven on Sundays.")
    if verb == "attach":
        return {"path": str(note), "caption": "About tea"}
    memory = run(rig, "attach", path=str(note))["memory_id"]
    return {"id": memory, "views": True} if verb == "file" else {"id": memory, "path": str(rig.folder / "copy.txt")}


_CALLS: dict[str, Callable[[Rig, str, str], dict[str, Any]]] = {
    **dict.fromkeys(("seal", "unseal", "sealed", "sealed_text", "erase_sealed", "find_sealed"), _seal_call),
    "rewrite_sealed_copies": _seal_call,
    **dict.fromkeys(("attach", "file", "save_file"), _file_call),
}
"""Verbs that need more than a memory."""


def test_new_keys_hold_once_their_code_is_given_back(rig: Rig) -> None:
    rig.engine._keys.keyring = Ring()
    rig.store("Tea is drunk at six.")
    said: list[str] = []
    code = run(rig, "rotate_keys", secret=PASSPHRASE)["recovery_code"]
    assert run(rig, "rotate_keys", confirm="another") == {"holds": False}
    done = run(rig, "rotate_keys", CallProgress(lambda label, *_: said.append(label)), confirm=code)
    assert done["holds"]
    assert done["old_backups"] == done["closed_copies"] == []
    assert list(dict.fromkeys(said)) == [
        "Encrypting under the new keys",
        "Binding the audit to the new keys",
        "Checking the new vault",
        "Putting it in place",
    ]
    assert run(rig, "list")["total"] == 1
    assert code_of(rig, "rotate_keys") is Code.INVALID_INPUT
    assert code_of(rig, "rotate_keys", secret="wrong") is Code.WRONG_SECRET


def test_the_keyring_is_turned_on_and_off(rig: Rig) -> None:
    rig.engine._keys.keyring = Ring()
    assert run(rig, "keyring", secret=PASSPHRASE, use=True) == {"in_keyring": True, "is_removed": False}
    assert run(rig, "keyring", secret=PASSPHRASE, use=False) == {"in_keyring": False, "is_removed": True}
    rig.engine._keys.keyring = Ring(KeyringCause.NO_BACKEND)
    assert code_of(rig, "keyring", secret=PASSPHRASE, use=True) is Code.KEYRING_UNAVAILABLE


@pytest.mark.slow
@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_answers_as_its_schema_says(rig: Rig, verb: str) -> None:
    assert run(rig, verb, **calls(rig, verb))


def test_the_end_of_an_id_is_enough_for_the_owner(rig: Rig) -> None:
    ident = rig.store("Tea is drunk at six.").memory_id
    asked = listen(rig.engine, "library")
    run(rig, "pin", id=ident[-8:], off=True)
    run(rig, "tag", id=ident[-8:], add=["drinks"])
    assert [given for verb, given, _ in asked if verb == "revise_memories"] == [
        ([ident], Revision(pinned=False)),
        ([ident], Revision(add_tags=("drinks",))),
    ]
    assert run(rig, "show", id=ident[-8:])["id"] == ident


def test_what_is_exported_is_found_as_the_library_finds_it(rig: Rig) -> None:
    rig.store("Tea is drunk at six.")
    asked, to = listen(rig.engine, "library"), str(rig.folder / "e.csv")
    assert run(rig, "export", to=to, format="csv", space="home", status=["archived", "active"]) == {
        "path": to, "format": "csv", "memories": 1,
    }  # fmt: skip
    run(rig, "export", status="all")
    searches = [given[0].query for verb, given, _ in asked if verb == "find_memories"]
    assert searches == ["space:home status:archived,active", "status:all"]
    assert code_of(rig, "export", space="nowhere") is Code.NOT_FOUND


def test_an_archive_goes_out_and_comes_in_by_its_passphrase(rig: Rig) -> None:
    rig.engine.library.archive_cost = KdfCost.lowest()
    rig.store("Tea is drunk at six.")
    to, passphrase = str(rig.folder / "all.loci"), "twelve o'clock in the kitchen"
    assert run(rig, "export_encrypted", to=to, passphrase=passphrase)["rows"]["memories"] == 1
    assert code_of(rig, "import", path=to) is Code.IMPORT_SECRET_NEEDED
    assert code_of(rig, "import", path=to, passphrase="something else") is Code.WRONG_SECRET
    for dry_run in (True, False):
        reply = run(rig, "import", path=to, passphrase=passphrase, dry_run=dry_run)
        assert (reply["format"], reply["stored"], reply["skipped"]) == ("archive", 0, {"known": 1})


def test_an_unknown_client_of_a_log_is_a_wrong_value(rig: Rig) -> None:
    plug = rig.client("plug", "read", "write")
    for text in ("The lake froze.", "The gate squeaks."):
        rig.store(text, plug)
    assert "next" in run(rig, "log", limit=1)
    assert code_of(rig, "log", name="nobody") is Code.INVALID_INPUT


def test_a_new_recovery_code_holds_once_it_is_confirmed(rig: Rig) -> None:
    code = run(rig, "recovery_code", secret=PASSPHRASE)["recovery_code"]
    assert run(rig, "recovery_code", confirm="another") == {"holds": False}
    assert run(rig, "recovery_code", confirm=code) == {"holds": True}
    assert code_of(rig, "recovery_code") is Code.INVALID_INPUT


def test_a_remembered_no_is_seen_and_can_be_forgotten(rig: Rig) -> None:
    rig.engine.clients.deny("odd one").result(30)
    assert [one["name"] for one in run(rig, "clients")["denied"]] == ["odd one"]
    run(rig, "allow_again", name="Odd One")
    assert run(rig, "clients")["denied"] == []
    assert code_of(rig, "allow_again", name="Odd One") is Code.NOT_FOUND


def test_all_that_one_client_asked_for_is_turned_down_by_its_name(rig: Rig) -> None:
    rig.store("The lake froze.", rig.client("plug", "read", "propose"))
    found = run(rig, "turn_down", name="plug")
    assert (found["name"], found["items"], found["left"]) == ("plug", 1, 0)
    assert found["step"] is not None


def test_remember_hands_everything_on(rig: Rig) -> None:
    asked = listen(rig.engine, "memories")
    found = run(
        rig,
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
    assert found["classification"].keys() == {"label", "confidence", "by"}
    assert (found["tier"], found["sensitive"]) == ("cleartext", [])
    ((_, (request, actor), _),) = [one for one in asked if one[0] == "store"]
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


def test_recall_shape(rig: Rig) -> None:
    gone = rig.store("Tea is drunk at six.").memory_id
    run(rig, "edit", id=gone, text="Coffee comes at noon.")
    rig.settle()
    asked = listen(rig.engine, "memories")
    found = run(rig, "recall", query="Tea is drunk at six.", space="home", status=["active", "archived"], limit=1)
    run(rig, "recall", query="tea", as_of="2024-01-01")
    first, second = (given[0] for _, given, _ in asked)
    assert (first.spaces, first.statuses, first.limit) == (("home",), ("active", "archived"), 1)
    assert second.as_of_ms == 1_704_153_599_999
    (miss,) = found["near_misses"]
    assert (miss["id"], miss["why"], miss["status"]) == (gone, "superseded", "superseded")
    assert isinstance(miss["score"], float)
    assert (found["strategy"], found["abstained"], found["took_ms"] >= 0) == ("hybrid", not found["items"], True)


def test_steps_tell_what_can_be_undone(rig: Rig) -> None:
    ident = rig.store("Tea is drunk at six.").memory_id
    rig.forget(ident)
    newest = run(rig, "steps", limit=1)
    assert (newest["total"], newest["next"]) == (2, newest["items"][0]["id"])
    (step,) = newest["items"]
    assert (step["client"], step["undone"], step["can_undo"], step["at"]) == (None, False, True, "2023-11-14T22:13:20Z")
    (older,) = run(rig, "steps", limit=1, after=newest["next"])["items"]
    assert older["memory_ids"] == [ident]


def test_list_of_all_statuses(rig: Rig) -> None:
    rig.forget(rig.store("Tea is drunk at six.").memory_id)
    rig.store("The lake froze.", rig.client("plug", "read", "write"))
    found = run(rig, "list", status="all", limit=1)
    assert (found["total"], len(found["items"])) == (2, 1)
    assert found["next"] == found["items"][0]["id"]
    assert found["items"][0]["client"] == "plug"


def test_show_keeps_secrets_and_writes_times(rig: Rig) -> None:
    claim = {"subject": "I", "predicate": "likes", "value": "tea", "valid_from": "2023-11-14T22:13:20Z"}
    ident = run(rig, "remember", text="I like tea.", claim=claim)["memory_id"]
    found = run(rig, "show", id=ident)
    assert found["claims"][0]["valid_from"] == "2023-11-14T22:13:20Z"
    (source,) = found["provenance"]["sources"]
    assert (source["lineage"], source["at"]) == ("owner", "2023-11-14T22:13:20Z")
    assert {"term", "value"} == found["trust_terms"][0].keys()


def check_progress(told: list[tuple[str, int, int | None]], label: str) -> None:
    """All is told under one label: first what is counted, then what is done of all there is; no number goes back."""
    assert {one for one, _, _ in told} == {label}
    counted = [done for _, done, total in told if total is None]
    stored = [(done, total) for _, done, total in told if total is not None]
    assert [done for _, done, _ in told] == [*counted, *(done for done, _ in stored)]
    assert (counted, stored) == (sorted(counted), sorted(stored))
    assert len({total for _, total in stored}) <= 1
    assert all(done <= total for done, total in stored)


def test_an_import_reports_and_may_be_rehearsed(rig: Rig) -> None:
    told: list[tuple[str, int, int | None]] = []
    progress = CallProgress(lambda label, done, total: told.append((label, done, total)))
    path, asked = rig.write_rows([*talk(5), *facts(2)]), listen(rig.engine, "imports")
    rehearsed = run(rig, "import", progress, path=str(path), dry_run=True)
    assert (rehearsed["import_id"], rehearsed["stored"], rig.texts(None)) == (None, 7, [])
    assert told[0] == ("Reading", 0, None)
    check_progress(told, "Reading")
    told.clear()
    found = run(rig, "import", progress, path=str(path), space="work")
    assert (told[0], told[-1]) == (("Importing", 0, None), ("Importing", 7, 7))
    check_progress(told, "Importing")
    assert [(verb, given[0]) for verb, given, _ in asked] == [("rehearse", path), ("run", path)]
    assert asked[1][1][2] == "work"
    assert found["import_id"] is not None
    told_of = {name: found[name] for name in ("stored", "conversations", "messages", "earliest", "latest")}
    assert told_of == {
        "stored": 7,
        "conversations": 1,
        "messages": {"user": 3, "assistant": 2, "other": 2},
        "earliest": "2024-03-01T10:00:00.000Z",
        "latest": "2024-03-05T10:00:00.000Z",
    }
    assert {name: rehearsed[name] for name in told_of} == told_of


def test_clients_never_show_a_token(rig: Rig) -> None:
    rig.client("plug", "read", "space:work")
    (client,) = run(rig, "clients")["clients"]
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
        ("unlock", {"vault": encode_value(b"x" * 16), "key": encode_value(b"k" * 32)}, Code.WRONG_SECRET),
        ("restore", {}, Code.UNKNOWN_METHOD),
    ],
)
def test_refusals(rig: Rig, verb: str, params: dict[str, Any], code: Code) -> None:
    assert code_of(rig, verb, **params) is code


def test_unlock_checks_the_key(rig: Rig) -> None:
    rig.lock()
    vault = encode_value(rig.engine.vault_id)
    assert code_of(rig, "unlock", vault=vault, key=encode_value(b"x" * 32)) is Code.WRONG_SECRET
    assert run(rig, "unlock", vault=vault, key=encode_value(rig.root)) == {"state": "open"}


def test_erase_tells_first_and_takes_what_was_asked(rig: Rig) -> None:
    old = rig.store("Tea is drunk at six.").memory_id
    ident = run(rig, "edit", id=old, text="Tea is drunk at five.")["memory_id"]
    told = run(rig, "erase", id=ident, dry_run=True)
    assert (told["erased"], told["memories"]) == (False, 1)
    assert "text" not in told["items"][0]
    assert rig.get(ident).text == "Tea is drunk at five."
    done = run(rig, "erase", id=ident, whole_chain=True)
    assert (done["erased"], done["memories"]) == (True, 2)
    assert rig.texts(None) == []


def test_a_mark_goes_to_the_rule_or_the_procedure(rig: Rig) -> None:
    rule = rig.store("Boil water first.", kind=Kind.RULE).memory_id
    procedure = rig.store("To brew tea: boil water, pour, wait.", kind=Kind.PROCEDURE).memory_id
    asked = listen(rig.engine, "outcomes")
    told = run(rig, "mark", id=rule, outcome="harmful", note="It broke the pot.")
    assert (told["rule"]["harmful"], told["rule"]["maturity"], told["inverted"]) == (1, "candidate", False)
    assert run(rig, "mark", id=rule, outcome="helpful")["rule"]["helpful"] == 1
    assert run(rig, "mark", id=procedure, outcome="failed")["procedure"]["failures"] == 1
    assert run(rig, "mark", id=procedure, outcome="worked")["procedure"]["successes"] == 1
    assert [verb for verb, _, _ in asked] == ["mark_harmful", "mark_helpful", "record_outcome", "record_outcome"]
    assert asked[0][1][2] == "It broke the pot."
    for wrong in ({"outcome": "helpful", "note": "x"}, {"outcome": "splendid"}):
        assert code_of(rig, "mark", id=rule, **wrong) is Code.INVALID_INPUT


def test_grants_are_given_and_taken_and_the_rest_stays(rig: Rig) -> None:
    rig.client("plug", "read", "space:work")
    done = run(rig, "grant", name="plug", grants=["write", "space:home"], take=["space:work"])
    assert done.pop("step") is not None
    assert done == {"client": "plug", "grants": ["read", "write", "space:home"], "new_spaces": []}
    assert run(rig, "grant", name="plug", grants=["write"])["step"] is None
    (client,) = run(rig, "clients")["clients"]
    assert client["limits"]["searches_per_session"] == 200


@pytest.mark.parametrize("verb", ["pair", "grant"])
def test_a_space_that_a_grant_makes_is_told(rig: Rig, verb: str) -> None:
    rig.client("plug", "read")
    name = {"pair": "newcomer", "grant": "plug"}[verb]
    reply = run(rig, verb, name=name, grants=["read", "space:hoem", "space:home", "space:hoem"])
    assert reply["new_spaces"] == ["hoem"]
    assert "space:hoem" in reply["grants"]


def test_grants_that_cannot_be_changed(rig: Rig) -> None:
    rig.client("plug", "read")
    for name in ("nobody", "@owner"):
        assert code_of(rig, "grant", name=name, grants=["read"]) is Code.NOT_FOUND
    assert code_of(rig, "grant", name="plug") is Code.INVALID_INPUT
    assert code_of(rig, "grant", name="plug", grants=["read"], take=["read"]) is Code.INVALID_INPUT


def test_who_pairs_a_name_anew_is_told_whose_memories_it_takes_up(rig: Rig) -> None:
    rig.client("plug", "read")
    run(rig, "revoke", name="plug")
    assert run(rig, "pair", name="plug")["former"] is True
    assert run(rig, "pair", name="another")["former"] is False


def test_the_receipt_of_an_answer_says_what_it_gave(served: Served) -> None:
    """The id is the one that `log` names; nobody but the owner reads it."""
    reader = served.paired("reader", ["read", "write"])
    stored = str(reader.call("memory_store", {"text": "the jar is blue"})["memory_id"])
    answer = served.call(reader, "memory_search", query="the blue jar")
    owner = served.owner()
    line = next(one for one in served.call(owner, "owner.log", name="reader")["lines"] if one["receipt"])
    assert line["receipt"] == answer["receipt"]
    told = served.call(owner, "owner.receipt", id=line["receipt"])
    assert (told["actor"], told["client"], told["verb"]) == ("client", "reader", "recall")
    assert told["query"] == "the blue jar"
    assert (told["given"], told["sealed"], told["unlisted"]) == ([stored], 0, 0)
    assert refusal_of(owner, "owner.receipt", {"id": stored}) is Code.NOT_FOUND
    assert refusal_of(reader, "owner.receipt", {"id": line["receipt"]}) is Code.ACCESS_DENIED


def test_sensitive_content_is_found_in_pages_wherever_its_words_still_stand(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library, "SCANNED", 3)
    said = "The router password is kW7-pfel-ABC9 since May"
    known = rig.store(said).memory_id
    rig.forget(known)
    rig.store("My card is 4111 1111 1111 1111.", space="work")
    for number in range(4):
        rig.store(f"Tea is drunk at {number + 3}.")
    first = run(rig, "sensitive")
    assert (first["looked_at"], "next" in first) == (3, True)
    found = {one["id"]: one for one in first["items"]}
    assert (found[known]["status"], found[known]["tier"]) == ("deleted", "confidential")
    (span,) = found[known]["spans"]
    assert (span["type"], said[span["start"] : span["end"]]) == ("credential", "kW7-pfel-ABC9")
    assert run(rig, "sensitive", after=first["next"])["items"] == []
    assert [one["space"] for one in run(rig, "sensitive", types=["credit_card"])["items"]] == ["work"]
    assert [one["space"] for one in run(rig, "sensitive", space="Work")["items"]] == ["work"]
    assert run(rig, "sensitive", types=["iban"])["items"] == []
    assert run(rig, "sensitive", types=[one.value for one in SensitiveType])["looked_at"] == 3
    assert code_of(rig, "sensitive", types=["shoe_size"]) is Code.INVALID_INPUT


def test_distill_tells_what_it_would_make_then_makes_it_in_pages(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    done = bring_talk(rig, TALK)
    would = run(rig, "distill", import_id=done, dry_run=True)
    assert would["skipped"] == {"question": 1}
    assert len(would["small_talk"]) == 3
    first = would["statements"][0]
    assert (first["id"], first["operation"]) == (None, "ADD")
    assert (first["text"], first["about"], first["type"]) == ("Mara has a grey cat.", "Mara", "possession")
    assert (first["lasting"], first["confidence"], first["span"]) == (True, 0.9, [6, 24])
    assert rig.texts(kind=Kind.FACT) == []
    monkeypatch.setattr(maintenance, "STATEMENTS_A_PAGE", 1)
    page = run(rig, "distill", import_id=done)
    told, small = page["statements"], page["small_talk"]
    while "next" in page:
        page = run(rig, "distill", import_id=done, after=page["next"])
        told, small = [*told, *page["statements"]], [*small, *page["small_talk"]]
    assert [one["text"] for one in told] == [one["text"] for one in would["statements"]]
    assert sorted(small) == sorted(would["small_talk"])
    assert all(rig.get(one["id"]).text == one["text"] for one in told)
    assert code_of(rig, "distill", import_id="nothing-of-the-kind") is Code.NOT_FOUND
    assert code_of(rig, "distill", after="dry/1") is Code.INVALID_INPUT
    rig.opened.talk = None
    assert code_of(rig, "distill") is Code.EMBEDDER_UNAVAILABLE
