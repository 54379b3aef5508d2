"""What the person reads of a grant before saying yes is what the engine then does with it."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest
from engine_rig import Rig

from core.types.memory import RequestedChange
from core.types.values import Actor, Source

HOME = "space:home"
AT_ONCE = "At once and without asking"


def sentence(grant: str) -> str:
    words = json.loads((files("resources") / "help" / "clients.json").read_text("utf-8"))
    return str(words["grants"][grant]["sentence"])


def removed(rig: Rig, memory_id: str, actor: Actor) -> str:
    return rig.engine.client_changes.remove_memory(memory_id, actor, RequestedChange.DELETE).result(30).operation


def test_curate_says_that_what_others_brought_goes_at_once_and_the_persons_own_waits(rig: Rig) -> None:
    other, curator = rig.client("other", "read", "write", HOME), rig.client("curator", "read", "curate", HOME)
    theirs = [rig.store(f"Jar {n} is blue.", other, space="home").memory_id for n in range(2)]
    own = rig.store("The kettle is red.").memory_id
    told = sentence("curate")
    at_once, waits = told.split(". ", 1)
    assert at_once.startswith(AT_ONCE)
    assert "what assistants brought" in at_once
    assert all(deed in at_once for deed in ("change", "delete"))
    assert removed(rig, theirs[0], curator) == "DELETE"
    assert (
        rig.engine.client_changes.update_text(theirs[1], "Jar 1 is green.", curator).result(30).operation != "PROPOSED"
    )
    assert "What you said or pinned yourself waits for your approval" in waits
    assert removed(rig, own, curator) == "PROPOSED"


def test_a_change_to_what_is_trusted_more_waits_as_curate_says(rig: Rig) -> None:
    speaker = rig.client("speaker", "read", "write", "speak_for_user", HOME)
    curator = rig.client("curator", "read", "curate", HOME)
    trusted = rig.store("Jar 7 is blue.", speaker, space="home", source=Source.TOOL_OUTPUT).memory_id
    assert "trusted more than it" in sentence("curate")
    assert rig.engine.client_changes.update_text(trusted, "Jar 7 is green.", curator).result(30).operation == "PROPOSED"
    assert removed(rig, trusted, curator) == "DELETE"  # only a changed text is weighed against what it replaces


def test_a_client_that_may_propose_says_how_a_memory_served(rig: Rig) -> None:
    known = rig.store("The kettle is red.", space="home").memory_id
    bot = rig.client("bot", "read", "propose", HOME)
    assert "how well a memory served" in sentence("propose")
    assert rig.engine.client_changes.give_feedback(known, bot, helpful=True).result(30).step_id


def test_write_judges_at_once(rig: Rig) -> None:
    bot = rig.client("bot", "read", "write", HOME)
    other = rig.client("other", "read", "write", HOME)
    theirs = rig.store("Jar 4 is blue.", other, space="home").memory_id
    assert "true or false" in sentence("write")
    told = rig.engine.memories.dispute(theirs, bot, "It is not.").result(30)
    assert (told.disputes, told.conflict) == (1, None)


@pytest.mark.parametrize("grant", ["propose", "write"])
def test_without_curate_a_wish_to_delete_waits_and_only_write_stores_at_once(rig: Rig, grant: str) -> None:
    bot = rig.client("bot", "read", grant, HOME)
    known = rig.store("The kettle is red.").memory_id
    stored = rig.store("Jar 3 is blue.", bot, space="home").operation
    assert stored == ("ADD" if grant == "write" else "PROPOSED")
    assert sentence(grant).startswith(AT_ONCE) == (stored == "ADD")
    assert removed(rig, known, bot) == "PROPOSED"
    assert "waits" in sentence(grant)
    assert "delete" in sentence(grant)


def test_what_the_person_typed_to_a_client_goes_at_its_word_and_no_others(rig: Rig) -> None:
    chat = rig.client("chat", "read", "write", "curate", "speak_for_user", HOME)
    other = rig.client("other", "read", "curate", HOME)
    typed = [rig.store(f"Jar {n} is blue.", chat, space="home", source=Source.USER_EXPLICIT).memory_id for n in (1, 2)]
    assert "but for what you typed to it" in sentence("curate")
    assert removed(rig, typed[0], other) == "PROPOSED"
    assert removed(rig, typed[1], chat) == "DELETE"
