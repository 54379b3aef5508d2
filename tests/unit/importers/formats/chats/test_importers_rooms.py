"""Slack, Discord and Signal: marks, people who are gone, kinds that nobody said, and entries that are no messages."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from importer_checks import items_of, memory_bundle, reasons, records

from core.errors import Code, UserError
from core.importers.formats.chats.discord import DiscordImporter
from core.importers.formats.chats.signal import SignalImporter
from core.importers.formats.chats.slack import SlackImporter
from core.importers.records import Importer
from core.types.values import Role

SLACK, DISCORD, SIGNAL = SlackImporter(), DiscordImporter(), SignalImporter()
PEOPLE = json.dumps(
    [{"id": "U1", "profile": {"display_name": " ", "real_name": "Tuva"}}, {"id": "U2", "name": "old"}, 5]
)


def slack(*messages: Any, people: str = PEOPLE) -> list[Any]:
    files = {"users.json": people, "general/2024-01-02.json": json.dumps(list(messages))}
    return items_of(SLACK, files, "zip")


def said(text: str = "words", **more: Any) -> dict[str, Any]:
    return {"type": "message", "user": "U1", "ts": "1704186060.000200", "text": text} | more


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("<@U1> and <@U2>", "@Tuva and @old"),
        ("<@U9> <@U9|nick>", "@U9 @nick"),
        ("<#C1|boats> <#C1>", "#boats #C1"),
        ("<!channel> <!subteam^S1|@crew> <!date^1^{date}|May>", "@channel @crew May"),
        ("<https://x.org/a?b=1&amp;c=2>", "https://x.org/a?b=1&c=2"),
        ("<https://x.org|x.org page>", "x.org page (https://x.org)"),
        ("<mailto:a@x|a@x>", "a@x (mailto:a@x)"),
        ("1 &lt; 2 &amp;amp; 3", "1 < 2 &amp; 3"),
        ("a < b > c", "a < b > c"),
        ("*bold* _it_ `code`", "*bold* _it_ `code`"),
    ],
)
def test_slack_marks_become_what_a_reader_sees(written: str, read: str) -> None:
    (record,) = records(slack(said(written)))
    assert record.text == read


def test_slack_tells_people_bots_threads_and_what_nobody_said() -> None:
    items = slack(
        said(subtype="channel_topic"),
        said(subtype="me_message", ts="1.2"),
        said(user="U7", ts="2.2", user_profile={"display_name": "Grit"}),
        said(user=None, ts="3.2", subtype="bot_message", username="tide", bot_id="B"),
        said(ts="4.2", thread_ts="1.2", text=""),
        None,
    )
    assert [r.author for r in records(items)] == ["Tuva", "Grit", "tide"]
    assert reasons(items) == {"chat_event": 1, "no_text": 1, "not_an_object": 1}
    assert {r.role for r in records(items)} == {Role.OTHER}


def test_a_slack_export_needs_its_lists_or_is_one_day() -> None:
    day = json.dumps([said()])
    assert SLACK.detects(memory_bundle({"a.json": day}))
    assert not SLACK.detects(memory_bundle({"general/2024-01-02.json": day}, "folder"))
    assert not SLACK.detects(memory_bundle({"users.json": PEOPLE, "general/2024-01-02.json": "[]"}, "zip"))
    assert not SLACK.detects(memory_bundle({"a.json": json.dumps([{"text": "x", "ts": 1}])}))


def test_a_damaged_day_refuses_the_whole() -> None:
    with pytest.raises(UserError, match=r"2024-01-02\.json") as error:
        items_of(
            SLACK,
            {"users.json": PEOPLE, "g/2024-01-01.json": "[]", "g/2024-01-02.json": json.dumps([said()])[:-9]},
            "zip",
        )
    assert error.value.code is Code.IMPORT_REFUSED


def channel(*messages: Any, number: str = "9") -> str:
    about = {"guild": {"id": "1", "name": "G"}, "channel": {"id": number, "type": "DirectTextChat", "name": "n"}}
    return json.dumps(about | {"messages": list(messages)})


def posted(number: int = 1, content: Any = "words", **more: Any) -> dict[str, Any]:
    author = {"id": "1", "name": "pim", "isBot": False}
    return {
        "id": str(number),
        "type": "Default",
        "timestamp": "2024-04-01T10:00:00+00:00",
        "content": content,
        "author": author,
    } | more


def test_discord_channels_in_parts_go_on_and_channels_stay_apart() -> None:
    files = {
        "a [part 1].json": channel(posted(1), posted(2)),
        "a [part 2].json": channel(posted(3)),
        "b.json": channel(posted(1), number="8"),
    }
    found = records(items_of(DISCORD, files, "folder"))
    assert [r.position for r in found] == [0, 1, 2, 0]
    assert len({r.identity for r in found}) == 4


def test_discord_tells_what_nobody_said() -> None:
    embed = [{"title": "Preview", "description": "of a link"}]
    items = items_of(
        DISCORD,
        {
            "a.json": channel(
                posted(type="RecipientAdd"),
                posted(2, None),
                posted(3, "", embeds=embed),
                posted(4, author=None, timestamp="x"),
                7,
            )
        },
    )
    assert reasons(items) == {"chat_event": 1, "no_text": 2, "not_an_object": 1}
    (record,) = records(items)
    assert (record.author, record.occurred, record.flags) == (None, None, ("time_unreadable",))


def test_signal_tells_the_person_and_edits_and_receipts() -> None:
    def line(**more: Any) -> str:
        return json.dumps({"envelope": {"source": "+1", "timestamp": 1722590000123} | more})

    items = items_of(
        SIGNAL,
        {
            "log": "\n".join(
                [
                    line(receiptMessage={"when": 1}),
                    line(dataMessage={"message": "a", "timestamp": 1722590000123}),
                    line(
                        syncMessage={"sentMessage": {"message": "b", "destination": "+2", "timestamp": 1722590000999}}
                    ),
                    line(
                        syncMessage={"sentMessage": {"editMessage": {"dataMessage": {"message": "c", "timestamp": 5}}}}
                    ),
                    line(syncMessage={}),
                    "[]",
                    "{",
                ]
            )
        },
    )
    assert [(r.text, r.role, r.extra.get("edited")) for r in records(items)] == [
        ("a", Role.OTHER, None),
        ("b", Role.USER, None),
        ("c", Role.USER, True),
    ]
    assert reasons(items) == {"chat_event": 2, "not_an_object": 1, "bad_line": 1}


@pytest.mark.parametrize("importer", [SLACK, DISCORD, SIGNAL])
@pytest.mark.parametrize(
    "text",
    [
        '{"text": "x", "time": 1}',
        '[{"memory": "x", "user_id": "u"}]',
        '{"mapping": {}}',
        "words",
        '{"guild": 1}',
        '{"date": "x", "sender": "y", "body": "z"}',
        '{"envelope": {"to": 1}}',
        "[]",
        "{}",
    ],
)
def test_other_files_are_left_to_others(importer: Importer, text: str) -> None:
    assert not importer.detects(memory_bundle({"a.json": text}))
    assert not importer.detects(memory_bundle({"a.json": text, "users.json": text, "c/2024-01-02.json": text}, "zip"))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=4,
)
FIELDS = st.sampled_from(
    [
        "type",
        "ts",
        "text",
        "user",
        "subtype",
        "files",
        "edited",
        "thread_ts",
        "attachments",
        "id",
        "timestamp",
        "content",
        "author",
        "stickers",
        "embeds",
        "reference",
        "forwardedMessage",
        "date",
        "sender",
        "body",
        "quote",
        "reactions",
        "syncMessage",
        "dataMessage",
        "source",
        "user_profile",
        "profile",
        "members",
        "bot_id",
    ]
)
ENTRIES = st.dictionaries(FIELDS, VALUES | st.dictionaries(FIELDS, VALUES, max_size=3), max_size=7)


@settings(max_examples=120, deadline=None)
@given(st.lists(ENTRIES, max_size=4))
def test_any_entries_are_read_or_told(entries: list[dict[str, Any]]) -> None:
    as_messages = [{"type": "message"} | one for one in entries]
    assert len(slack(*as_messages, people=json.dumps(entries))) == len(entries)
    assert len(items_of(DISCORD, {"a.json": channel(*entries)})) == len(entries)
    lines = "\n".join(json.dumps({"envelope": {"timestamp": 1} | one}) for one in entries)
    known = json.dumps({"envelope": {"timestamp": 1}})
    assert len(items_of(SIGNAL, {"a": f"{known}\n{lines}"})) == len(entries) + 1
    exported = {"date": "2024-01-01", "sender": "x", "body": "y", "quote": "", "reactions": []}
    rows = "\n".join(json.dumps(exported | one) for one in entries)
    assert len(items_of(SIGNAL, {"a": f"{json.dumps(exported)}\n{rows}"})) == len(entries) + 1
