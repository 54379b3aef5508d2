"""ChatGPT exports: fixtures, branches, broken trees, classes, shapes of the file."""

from __future__ import annotations

import json
from typing import Any

import pytest
from import_checker import check_fixture, read_fixture
from importer_checks import fixture, items_of, memory_bundle, reasons, records, troubles

from core.errors import Code, UserError
from core.importers.formats.assistants.chatgpt import ChatGptImporter
from core.importers.records import Record, SkippedPart
from core.importers.transcripts.tree import walk_tree
from core.types.values import Role, Status

CHATGPT = ChatGptImporter()


@pytest.mark.parametrize(
    "fixture_id", ["chatgpt-zip", "chatgpt-sharded-zip", "hostile-lone-surrogates", "hostile-wrong-extension"]
)
def test_fixture(fixture_id: str) -> None:
    check_fixture(fixture_id)


def test_a_later_export_adds_only_what_is_new() -> None:
    before = {record.identity for record in read_fixture("chatgpt-zip").records}
    later = read_fixture("chatgpt-sharded-zip")
    want = fixture("chatgpt-sharded-zip")["after"]
    known = {record.conversation.key for record in read_fixture("chatgpt-zip").records if record.conversation}
    new = [record for record in later.messages if record.identity not in before]
    keys = {record.conversation.key for record in new if record.conversation}
    assert len(keys - known) == want["new_conversations"]
    assert sum(r.role is Role.USER for r in new) == want["new_user_messages"]
    assert sum(r.role is Role.ASSISTANT for r in new) == want["new_assistant_messages"]


def test_title_with_a_lone_surrogate_is_mended_and_counted() -> None:
    conversation = read_fixture("hostile-lone-surrogates").messages[0].conversation
    assert conversation is not None
    assert conversation.title == "Cut emoji \ufffd"
    assert conversation.extra["surrogates_replaced"] == 1


def message(role: str = "user", text: object = "words", **more: Any) -> dict[str, Any]:
    made = {"author": {"role": role}, "create_time": 1.0e9, "content": {"content_type": "text", "parts": [text]}}
    return made | more


def chain(*messages: dict[str, Any] | None, **more: Any) -> dict[str, Any]:
    """A conversation of one branch."""
    mapping: dict[str, Any] = {}
    for number, entry in enumerate(messages):
        parent = f"n{number - 1}" if number else None
        mapping[f"n{number}"] = {"id": f"n{number}", "message": entry, "parent": parent, "children": []}
        if parent:
            mapping[parent]["children"].append(f"n{number}")
    last = f"n{len(messages) - 1}"
    return {"title": "t", "create_time": 1.0e9, "mapping": mapping, "current_node": last, "id": "c"} | more


def read(*conversations: Any, name: str = "conversations.json") -> list[Any]:
    return items_of(CHATGPT, {name: json.dumps(list(conversations))})


def texts(items: list[Any]) -> list[str]:
    return [record.text for record in records(items)]


def test_chosen_branch_is_told_by_current_node_alone() -> None:
    talk = chain(message(text="a"), message("assistant", "b"))
    talk["mapping"]["other"] = {"message": message(text="gone", create_time=9e9), "parent": "n0", "children": []}
    talk["mapping"]["n0"]["children"].insert(0, "other")
    items = read(talk)
    assert texts(items) == ["a", "b"]
    assert reasons(items) == {"abandoned_branch": 1}
    conversation = records(items)[0].conversation
    assert conversation is not None
    assert conversation.extra["branches"] == 2


@pytest.mark.parametrize("current", [None, "nowhere", 7, {"a": 1}])
def test_without_a_usable_current_node_the_newest_leaf_is_taken_and_told(current: object) -> None:
    talk = chain(message(text="a"), message("assistant", "old", create_time=5.0), current_node=current)
    talk["mapping"]["new"] = {"message": message(text="new", create_time=6.0), "parent": "n0", "children": []}
    items = read(talk)
    assert texts(items) == ["a", "new"]
    assert reasons(items) == {"broken_branch": 1, "abandoned_branch": 1}
    assert "old" not in json.dumps([trouble.message for trouble in troubles(items)])


def test_a_circle_and_a_missing_parent_end_the_way_up() -> None:
    circle = chain(message(text="a"), message(text="b"))
    circle["mapping"]["n0"]["parent"] = "n1"
    assert texts(read(circle)) == ["a", "b"]
    assert reasons(read(circle)) == {"broken_branch": 1}
    lost = chain(message(text="a"), message(text="b"))
    lost["mapping"]["n1"]["parent"] = "gone"
    assert texts(read(lost)) == ["b"]
    assert reasons(read(lost)) == {"broken_branch": 1, "abandoned_branch": 1}


def test_parents_may_be_told_by_children_only() -> None:
    talk = chain(message(text="a"), message(text="b"))
    for node in talk["mapping"].values():
        del node["parent"]
    assert texts(read(talk)) == ["a", "b"]


def test_a_very_long_branch_does_not_recurse() -> None:
    assert len(texts(read(chain(*[message(text=str(n)) for n in range(3000)])))) == 3000


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        (message("system"), "hidden_or_system"),
        (message(metadata={"is_visually_hidden_from_conversation": True}), "hidden_or_system"),
        (message(content={"content_type": "user_editable_context", "user_profile": "x"}), "hidden_or_system"),
        (message("assistant", content={"content_type": "thoughts", "thoughts": [{"content": "x"}]}), "thoughts"),
        (message("assistant", content={"content_type": "reasoning_recap", "content": "x"}), "thoughts"),
        (message("tool"), "tool_traffic"),
        (message("assistant", recipient="python"), "tool_traffic"),
        (message("critic"), "tool_traffic"),
        (message(text=""), "no_text"),
        (message(text=" \n"), "no_text"),
        (message(content=None), "no_text"),
        (message(content={"parts": [{"asset_pointer": "file-service://x"}]}), "no_text"),
        (message(author={"role": "tool", "name": "bio"}, text="Model set context updated."), "bio_acknowledgement"),
    ],
)
def test_left_out_classes(entry: dict[str, Any], reason: str) -> None:
    if "text" in entry:
        entry["content"]["parts"] = [entry.pop("text")]
    assert reasons(read(chain(entry))) == {reason: 1, "empty_conversation": 1}


def test_both_ways_of_writing_bio_become_proposals_of_the_conversation() -> None:
    tool = message("tool", "likes tea", author={"role": "tool", "name": "bio"}, recipient="assistant")
    items = read(
        chain(message(text="hi"), tool, message("assistant", "likes rye", recipient="bio"), message(text="end"))
    )
    found = records(items)
    assert [(r.text, r.status, r.position) for r in found] == [
        ("hi", Status.ACTIVE, 0),
        ("likes tea", Status.QUARANTINED, None),
        ("likes rye", Status.QUARANTINED, None),
        ("end", Status.ACTIVE, 1),
    ]


def test_parts_keep_their_words_and_media_are_named() -> None:
    parts = [
        {"content_type": "image_asset_pointer", "asset_pointer": "file-service://f1"},
        "one  ",
        {"content_type": "audio_transcription", "text": "two"},
        None,
        7,
    ]
    (record,) = records(read(chain(message(content={"content_type": "multimodal_text", "parts": parts}))))
    assert record.text == "one  \ntwo"
    assert record.extra["media"] == ["file-service://f1"]


def test_code_to_all_and_citation_marks_stay_as_written() -> None:
    marked = "see \ue200cite\ue202turn0search1\ue201 and 【7†source】."
    items = read(
        chain(message("assistant", marked), message("assistant", content={"content_type": "code", "text": "print(1)"}))
    )
    assert texts(items) == [marked, "print(1)"]


def test_null_times_stay_unknown_and_the_conversation_takes_its_earliest_message() -> None:
    items = read(
        chain(message(create_time=None), message("assistant", create_time=1.7e9), create_time=None, title=None)
    )
    found = records(items)
    assert found[0].occurred is None
    assert found[0].conversation is not None
    assert found[0].conversation.title is None
    assert found[0].conversation.started == found[1].occurred
    unknown = records(read(chain(message(create_time=None), create_time=None)))[0].conversation
    assert unknown is not None
    assert unknown.started is None


def test_facts_of_the_conversation() -> None:
    talk = chain(message(), is_archived=True, is_starred=True, gizmo_id="g-1", default_model_slug="gpt-5")
    conversation = records(read(talk))[0].conversation
    assert conversation is not None
    want = {"branches": 1, "model": "gpt-5", "gizmo_id": "g-1", "archived": True, "starred": True}
    assert conversation.extra == want


def test_do_not_remember_leaves_no_trace() -> None:
    items = read(chain(message(text="secret"), is_do_not_remember=True))
    assert reasons(items) == {"do_not_remember_conversation": 1}
    assert records(items) == []


@pytest.mark.parametrize(
    "document",
    [
        lambda talk: [talk],
        lambda talk: {"conversations": [talk]},
        lambda talk: {"version": {"a": [1, "]"]}, "conversations": [talk], "n": 1},
        lambda talk: talk,
    ],
)
def test_shapes_of_the_file(document: Any) -> None:
    files: dict[str, bytes | str] = {"any name.txt": json.dumps(document(chain(message(text="hello"))))}
    assert CHATGPT.detects(memory_bundle(files))
    assert texts(items_of(CHATGPT, files)) == ["hello"]


def test_shards_and_folders_inside_a_zip() -> None:
    files: dict[str, bytes | str] = {
        "export/conversations-000.json": json.dumps([chain(message(text="a"))]),
        "export/conversations-001.json": json.dumps([chain(message(text="b"), id="d")]),
        "export/conversations-002.json": "[]",
        "export/chat.html": "<html>",
        "export/user.json": "{}",
        "export/dalle-generations/file-1.webp": b"\x00",
        "__MACOSX/export/._conversations-000.json": b"\x00\x05",
    }
    assert CHATGPT.detects(memory_bundle(files, "zip"))
    items = items_of(CHATGPT, files, "zip")
    assert texts(items) == ["a", "b"]
    assert reasons(items) == {"media_files": 1}


def test_a_conversation_longer_than_the_head_is_detected() -> None:
    talk = chain(message(text="x" * 100_000))
    talk = {"title": "t", "create_time": 1, "mapping": talk["mapping"], "id": "c", "current_node": "n0"}
    assert CHATGPT.detects(memory_bundle({"a.json": json.dumps([talk])}))


def test_bare_arrays_of_others_are_not_taken() -> None:
    for other in ([], [{"uuid": "u", "chat_messages": []}], [{"mapping": {"a": 1}}], {"a": 1}, "x"):
        assert not CHATGPT.detects(memory_bundle({"conversations.json": json.dumps(other)}))


def test_odd_entries_are_told_and_the_rest_goes_on() -> None:
    items = read(7, None, {"title": "no mapping"}, {"mapping": 5}, chain(None), chain(message(text="good")))
    assert texts(items) == ["good"]
    want = {"not_an_object": 2, "bad_conversation": 2, "empty_conversation": 1}
    assert reasons(items) == want


def test_nodes_of_wrong_types_do_no_harm() -> None:
    talk = chain(message(text="a"))
    talk["mapping"] |= {"x": None, "y": 5, "z": {"message": [1], "children": 7, "parent": {}}}
    assert texts(read(talk)) == ["a"]


def test_conversations_without_an_id_keep_one_made_of_their_nodes() -> None:
    first = records(read(chain(message(), id=None)))
    again = records(read(chain(message(), id=None)))
    other = chain(message(), id=None)
    other["mapping"]["m"] = other["mapping"].pop("n0")
    assert first[0].identity == again[0].identity
    assert first[0].identity != records(read(other | {"current_node": "m"}))[0].identity


def test_not_json_is_refused_whole_by_name() -> None:
    with pytest.raises(UserError, match=r"conversations\.json") as error:
        items_of(CHATGPT, {"conversations.json": '[{"mapping": NaN}]'})
    assert error.value.code is Code.IMPORT_REFUSED


def test_an_empty_tree() -> None:
    tree = walk_tree({}, None)
    assert (tree.chain, tree.abandoned, tree.leaves, tree.troubles) == ((), 0, 0, ())


def test_where_names_file_and_numbers_never_text() -> None:
    items = read(chain(message(text="private words"), message("tool", "private too")))
    wheres = [item.where for item in items if isinstance(item, Record | SkippedPart)]
    assert wheres == ["conversations.json:1:1", "conversations.json:1:2"]


def test_an_export_saved_again_as_utf16() -> None:
    data = json.dumps([chain(message(text="Måne 🌙"))], ensure_ascii=False).encode("utf-16")
    assert CHATGPT.detects(memory_bundle({"export.bin": data}))
    assert texts(items_of(CHATGPT, {"export.bin": data})) == ["Måne 🌙"]
