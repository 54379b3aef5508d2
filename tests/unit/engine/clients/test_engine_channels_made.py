"""What is made of a memory of a channel stays in that channel: versions, opposites, digests, names, sessions (X2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from consolidation_rig import READERS, gathering
from engine_rig import Rig, refused, rig_at
from gathering_rig import told
from ground_rig import flow, ground_of, near_of, run
from hypothesis import given
from hypothesis import strategies as st

from core.errors import Code
from core.lifecycle.consolidate.consolidate import ConsolidationJob
from core.lifecycle.enrich import EnrichJob
from core.types.entities import EntityCard, Resolving
from core.types.requests import ListRequest
from core.types.sessions import TurnQuery
from core.types.values import Actor, Kind, channel_in, limit_of, limits_from, seen_from
from core.types.views import Revision

ANNA, BOB = "discord:anna", "discord:bob"
VIEWS = ("", "discord", ANNA, BOB, "telegram:anna")
_channels = st.from_regex(r"[a-z0-9]{1,8}(:[A-Za-z0-9_.-]{1,8})?", fullmatch=True)
_sessions = st.one_of(st.text(min_size=1, max_size=12), st.from_regex(r"~{0,2}channel:[a-z]{1,3}( s)?", fullmatch=True))


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path, readers=READERS) as made:
        made.store("The house has a name.")  # there is a space `home`
        yield made


def of(actor: Actor, channel: str) -> Actor:
    return replace(actor, channel=channel)


def listed(rig: Rig, actor: Actor) -> set[str]:
    page = rig.engine.memories.list(ListRequest(statuses=None, limit=None), actor).result(30)
    assert page.total == len(page.items)
    return {memory.text for memory in page.items}


def stays_with_anna(rig: Rig, client: Actor, word: str) -> list[tuple[str, str]]:
    """Every row that has the word is Anna's by both its columns, and no other view or client is given one.

    What waits for the person is there for its author alone, and for who decides.
    """
    rows = rig.rows(
        "SELECT id, text, scope_session, scope_channel, iif(status = 'quarantined', client_id, NULL)"
        " FROM memories WHERE instr(text, ?) > 0",
        word,
    )
    for _, text, limit, channel, _ in rows:
        assert (channel, channel_in(limit)) == (ANNA, ANNA), text
    other = rig.client(f"other {word}", "read", "all_spaces")
    decides = rig.rows("SELECT 1 FROM grants WHERE client_id = ? AND name = 'curate'", client.client_id)
    for view in VIEWS:
        for actor in (of(client, view), of(other, view)):
            known = {
                text
                for _, text, _, _, waits in rows
                if waits in (None, actor.client_id) or (decides and actor.name == client.name)
            }
            seen = {text for text in listed(rig, actor) if word in text}
            assert seen == (known if view == ANNA else set()), (actor.name, view)
            if view != ANNA:
                assert not any(word in text for text in rig.found(word, actor, limit=50))
                for memory_id, *_ in rows:
                    with refused(Code.NOT_FOUND):
                        rig.get(memory_id, actor)
    return [(text, limit) for _, text, limit, *_ in rows]


@given(_channels, st.one_of(st.none(), _sessions), st.one_of(st.none(), _sessions))
def test_a_limit_tells_its_channel_and_no_session_reads_so(channel: str, one: str | None, two: str | None) -> None:
    assert channel_in(limit_of(channel, one)) == channel
    assert channel_in(limit_of("", one)) == ""
    assert (limit_of("", one) == limit_of("", two)) == ((one or "") == (two or ""))
    assert limit_of("", one) == "" or limit_of("", one) not in limits_from(channel, None)
    assert {channel_in(limit) for limit in limits_from(channel, one)} <= set(seen_from(channel))


def test_a_new_version_stays_whoever_makes_it(rig: Rig) -> None:
    client = rig.client("bridge", "read", "write", "curate")
    anna = of(client, ANNA)
    first = rig.store("The quay tea is green.", anna).memory_id
    changed = rig.engine.client_changes.update_text(first, "The quay tea is black.", anna).result(30)
    assert changed.operation == "UPDATE"
    asked = rig.client("asks", "read", "propose", "all_spaces")
    reply = rig.engine.client_changes.update_text(changed.memory_id, "The quay tea is white.", of(asked, ANNA)).result(
        30
    )
    assert reply.operation == "PROPOSED"
    rig.engine.library.revise_memories((changed.memory_id,), Revision(text="The quay tea is red.")).result(30)
    assert len(stays_with_anna(rig, client, "quay")) == 4


@pytest.mark.parametrize("who", ["its own", "another's"])
def test_the_opposite_of_a_rule_stays(rig: Rig, who: str) -> None:
    client = rig.client("bridge", "read", "write", "all_spaces")
    rule = rig.store("Always steep the quay leaves.", of(client, ANNA), kind=Kind.RULE, space="home").memory_id
    marks = client if who == "its own" else rig.client("marks", "read", "write", "all_spaces")
    for n in range(3):
        rig.engine.client_changes.mark_rule(rule, of(marks, ANNA), helpful=False, reason=f"It was bitter {n}.").result(
            30
        )
    made = stays_with_anna(rig, client, "quay")
    assert any(text.startswith("ANTI-PATTERN") for text, _ in made), made
    assert len(made) == 2


def test_a_digest_stays(rig: Rig) -> None:
    client = rig.client("bridge", "read", "write", "space:home")
    gathering(rig, "oak")
    for coin in ("cents", "euros", "crowns", "pounds"):
        text = f"The quay desk quaybank of quayville quaystreet pays out in {coin}"
        told(rig, text, client_id=client.client_id, scope_session=limit_of(ANNA, None))
    rig.settle()
    run(rig, ConsolidationJob(), ground_of(rig, near=near_of(rig)))
    assert rig.rows("SELECT scope_channel FROM memories WHERE kind = 'digest' ORDER BY 1") == [("",), (ANNA,)]
    stays_with_anna(rig, client, "quay")


def enrich(rig: Rig) -> None:
    flow(rig, EnrichJob(), ground_of(rig))


def names(rig: Rig, actor: Actor, name: str) -> set[str]:
    found = rig.engine.entities.resolve(Resolving(name, fuzzy=True), actor).result(30)
    return {one.canonical_name for one in found} | {alias for one in found for alias in one.aliases}


def test_a_name_of_a_channel_is_no_name_elsewhere(rig: Rig) -> None:
    client = rig.client("bridge", "read", "write", "curate", "space:home")
    other = rig.client("other", "read", "space:home")
    text = "Dr. Zebulon Quickwater works at Contoso Pharma in Vienna and treats me."
    rig.store(text, of(client, ANNA), kind=Kind.EPISODE, space="home")
    enrich(rig)
    [entity] = [one for (one,) in rig.rows("SELECT id FROM entities WHERE instr(name, 'Quickwater')")]
    assert names(rig, of(client, ANNA), "zeb")
    assert rig.engine.entities.get(entity, of(client, ANNA)).result(30).id == entity
    for view in (one for one in VIEWS if one != ANNA):
        for actor in (of(client, view), of(other, view)):
            assert names(rig, actor, "zeb") == set()
            with refused(Code.NOT_FOUND):
                rig.engine.entities.get(entity, actor).result(30)
    rig.forget(rig.rows("SELECT id FROM memories WHERE instr(text, 'Zebulon')")[0][0])
    assert names(rig, of(client, ANNA), "zeb") == set()


def test_an_entity_of_all_goes_by_the_names_that_all_have_seen(rig: Rig) -> None:
    client = rig.client("bridge", "read", "write", "curate", "space:home")
    rig.store("Dr. Mira Zandvoort spoke.", of(client, ANNA), kind=Kind.EPISODE, space="home")
    rig.store("Dr. Nora Quillfeather paid.", client, kind=Kind.EPISODE, space="home")
    enrich(rig)
    ids = {name: one for one, name in rig.rows("SELECT id, name FROM entities WHERE type = 'person'")}
    mira = next(one for name, one in ids.items() if "Zandvoort" in name)
    nora = next(one for name, one in ids.items() if "Quillfeather" in name)
    rig.engine.entities.merge(mira, nora).result(30)

    def card(view: str) -> EntityCard:
        return rig.engine.entities.get(nora, of(client, view)).result(30)

    assert any("Zandvoort" in name for name in (card(ANNA).name, *card(ANNA).aliases))
    for view in ("", BOB):
        assert not any("Zandvoort" in name for name in (card(view).name, *card(view).aliases))
        assert not any("Zandvoort" in name for name in names(rig, of(client, view), "Zandvoort"))
        assert any("Quillfeather" in name for name in names(rig, of(client, view), "Quillfeather"))


def test_a_session_of_a_channel_has_nothing_at_hand_of_anothers(rig: Rig) -> None:
    client = rig.client("bridge", "read", "write")
    rig.store("The quay tea is green.", of(client, ANNA))

    def at_hand(view: str) -> int:
        return (
            rig.engine.sessions.begin_turn(TurnQuery("What of the quay tea?", "s"), of(client, view)).result(30).at_hand
        )

    assert at_hand(ANNA) == 1
    assert (at_hand(BOB), at_hand("")) == (0, 0)
    rig.engine.sessions.close("s", of(client, BOB)).result(30)
    assert rig.engine.sessions.close("s", of(client, ANNA)).result(30).saved == 1


def test_the_same_proposal_again_is_no_new_item(rig: Rig) -> None:
    shy = rig.client("shy", "read", "propose")
    views = (ANNA, "", BOB)
    first = [rig.store("The quay tea is green.", of(shy, view)).memory_id for view in views]
    again = [rig.store("The quay tea is green.", of(shy, view)) for view in (*views, *views)]
    assert [reply.operation for reply in again] == ["NOOP"] * 6
    assert [reply.memory_id for reply in again] == first * 2
    assert rig.value("SELECT count(*) FROM conflicts WHERE state = 'open'") == 3
