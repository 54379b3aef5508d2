"""Claude.ai exports: fixtures, both shapes, blocks, attachments, projects, memories."""

from __future__ import annotations

import json
import shutil
import socket
from pathlib import Path
from typing import Any

import pytest
from import_checker import check_fixture
from importer_checks import items_of, memory_bundle, path_of, reasons, records, zip_bytes

from core.errors import Code, UserError
from core.importers.detect import detect_format
from core.importers.dry_run import dry_run_import, import_items
from core.importers.formats.assistants.claude import ClaudeImporter
from core.importers.input.source import open_bundle
from core.types.values import Role, Source, Status

CLAUDE = ClaudeImporter()


def test_older_zip() -> None:
    check_fixture("claude-zip")


def test_2026_folder_without_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_network(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr(socket, "socket", no_network)
    monkeypatch.setattr(socket, "getaddrinfo", no_network)
    check_fixture("claude-2026-folder")


def test_manifest_leads_to_the_same_import() -> None:
    folder = path_of("claude-2026-folder")
    (manifest,) = folder.glob("manifest-*.json")
    with open_bundle(folder) as whole, open_bundle(manifest) as told:
        assert told.label == manifest.name
        assert list(import_items(told, detect_format(told))) == list(import_items(whole, detect_format(whole)))


def test_manifest_among_other_files_takes_only_its_parts_and_tells_what_is_missing(tmp_path: Path) -> None:
    for file in path_of("claude-2026-folder").iterdir():
        if file.name != "conversations-001.zip":
            shutil.copy(file, tmp_path)
    (tmp_path / "conversations.json").write_text('[{"mapping": {"a": {"message": null}}, "current_node": "a"}]')
    (tmp_path / "broken.zip").write_bytes(b"PK\x03\x04 no zip at all")
    (manifest,) = tmp_path.glob("manifest-*.json")
    with open_bundle(manifest) as bundle:
        assert "conversations.json" not in [file.name for file in bundle.files]
        told = dry_run_import(bundle, detect_format(bundle))
    assert told.conversations == 2
    assert told.trouble_reasons == {"missing_part": 1}


def test_a_folder_around_an_export_misses_none_of_its_parts(tmp_path: Path) -> None:
    shutil.copytree(path_of("claude-2026-folder"), tmp_path / "older" / "export")
    with open_bundle(tmp_path / "older") as bundle:
        assert not dry_run_import(bundle, detect_format(bundle)).trouble_reasons
    (tmp_path / "older" / "export" / "users.json").unlink()
    with open_bundle(tmp_path / "older") as bundle:
        told = dry_run_import(bundle, detect_format(bundle))
    assert [one["where"] for one in told.troubles] == ["export/users.json"]


def test_a_damaged_part_refuses_the_whole(tmp_path: Path) -> None:
    shutil.copytree(path_of("claude-2026-folder"), tmp_path / "e")
    part = tmp_path / "e" / "conversations-001.zip"
    data = part.read_bytes()
    part.unlink()
    part.write_bytes(data[:-30])
    with pytest.raises(UserError, match=r"conversations-001\.zip") as error, open_bundle(tmp_path / "e"):
        pass
    assert error.value.code is Code.IMPORT_REFUSED


def message(sender: str = "human", text: object = "words", **more: Any) -> dict[str, Any]:
    return {"uuid": f"m-{sender}-{text}", "sender": sender, "text": text, "created_at": "2025-01-01T10:00:00Z"} | more


def blocks(*parts: Any) -> list[Any]:
    return [{"type": "text", "text": part} if isinstance(part, str) else part for part in parts]


def talk(*messages: Any, **more: Any) -> dict[str, Any]:
    return {"uuid": "c", "name": "n", "created_at": "2025-01-01T09:00:00Z", "chat_messages": list(messages)} | more


def read(*conversations: Any) -> list[Any]:
    return items_of(CLAUDE, {"conversations.json": json.dumps(list(conversations))})


def texts(items: list[Any]) -> list[str]:
    return [record.text for record in records(items)]


@pytest.mark.parametrize(
    ("content", "text", "want"),
    [
        (blocks("a"), "old", ["a"]),
        (blocks(None, "a", None), "old", ["a"]),
        ([None], "old", ["old"]),
        ([], "old", ["old"]),
        (None, "old", ["old"]),
        (blocks("a", {"type": "tool_use", "name": "x"}, "b"), "a\n\nb", ["a\n\nb"]),
        (blocks("a", "b"), "a b", ["a b"]),
        (blocks("a", "b"), "a--b", ["a\n\nb"]),
        (blocks({"type": "thinking", "thinking": "t"}), "placeholder", []),
        (blocks({"type": "tool_result", "content": [{"type": "text", "text": "t"}]}), "placeholder", []),
        (blocks({"type": "voice_note", "text": "spoken"}), "", ["spoken"]),
        (blocks("  kept  "), "kept", ["  kept  "]),
        (blocks(""), "old", []),
        ("plain", "old", ["plain"]),
        (blocks({"type": "text", "text": 7}, 5), "", []),
    ],
)
def test_words_come_from_blocks_and_from_text_only_without_them(content: object, text: str, want: list[str]) -> None:
    items = read(talk(message(text=text, content=content)))
    assert texts(items) == want
    assert reasons(items) == ({} if want else {"no_text": 1, "empty_conversation": 1})


def test_missing_content_falls_back_to_text() -> None:
    assert texts(read(talk(message(text="Thanks.  ")))) == ["Thanks.  "]


def test_left_out_blocks_are_counted_on_the_record() -> None:
    content = blocks({"type": "thinking"}, "a", {"type": "tool_use"}, {"type": "tool_use"})
    (record,) = records(read(talk(message("assistant", content=content))))
    assert record.extra["left_out"] == {"thinking": 1, "tool_use": 2}
    assert (record.role, record.source, record.author) == (Role.ASSISTANT, Source.INFERENCE, "Claude")


def test_attachments_are_sources_of_the_conversation() -> None:
    attachments = [{"file_name": "a.txt", "extracted_content": "in a"}, {"file_name": "b"}, None]
    items = read(talk(message(attachments=attachments, files=[{"file_name": "p.png"}, None])))
    words, source = records(items)
    assert (source.text, source.role, source.position) == ("in a", Role.SOURCE, None)
    assert source.extra["title"] == "a.txt"
    assert source.conversation is words.conversation
    assert words.extra["files"] == ["p.png"]
    assert reasons(items) == {"empty_attachment": 2}


def test_odd_entries_are_told() -> None:
    items = read(3, {"uuid": "x"}, talk(None, 5, message(sender="robot")), talk(chat_messages=None, uuid="d"))
    assert [record.role for record in records(items)] == [Role.OTHER]
    assert reasons(items) == {"not_an_object": 3, "bad_conversation": 1, "empty_conversation": 1}


def test_unreadable_times_stay_unknown() -> None:
    items = read(talk(message(created_at="soon"), message("assistant"), created_at=None))
    first, second = records(items)
    assert first.occurred is None
    assert first.conversation is not None
    assert first.conversation.started == second.occurred


PROJECT = {
    "uuid": "p",
    "name": "House",
    "description": "about",
    "prompt_template": "Be brief.",
    "created_at": "2025-01-01T00:00:00Z",
    "docs": [
        {"uuid": "d1", "filename": "a.md", "content": "A\r\n", "created_at": "2025-02-01T00:00:00Z"},
        {"uuid": "d2", "filename": "b.md", "content": ""},
        None,
    ],
}


@pytest.mark.parametrize(
    "files",
    [
        {"projects.json": json.dumps([PROJECT])},
        {"projects/p.json": json.dumps(PROJECT), "conversations.json": json.dumps([talk()])},
    ],
)
def test_projects_in_both_shapes(files: dict[str, str]) -> None:
    assert CLAUDE.detects(memory_bundle(files, "zip"))
    items = items_of(CLAUDE, files, "zip")
    document, prompt = records(items)
    assert (document.text, document.extra["part"], document.conversation) == ("A\r\n", "project_doc", None)
    assert document.extra["project"] == "House"
    assert (prompt.text, prompt.extra["part"]) == ("Be brief.", "project_prompt")
    assert reasons(items)["empty_document"] == 2


@pytest.mark.parametrize("wrap", [lambda value: value, lambda value: [value]])
def test_memories_as_object_and_as_list_are_proposals(wrap: Any) -> None:
    value = {"conversations_memory": "m", "project_memories": {"p": "n", "q": "", "r": 7}, "account_uuid": "a"}
    items = items_of(CLAUDE, {"memories.json": json.dumps(wrap(value))})
    assert [(r.text, r.status) for r in records(items)] == [("m", Status.QUARANTINED), ("n", Status.QUARANTINED)]
    assert records(items)[1].extra["project_id"] == "p"


def test_a_changed_memory_is_a_new_proposal_and_an_unchanged_one_is_not() -> None:
    def identity(text: str) -> str:
        value = json.dumps({"conversations_memory": text, "account_uuid": "a"})
        return records(items_of(CLAUDE, {"memories.json": value}))[0].identity

    assert identity("m") == identity("m") != identity("m2")


def test_lone_surrogates_are_replaced_and_flagged_where_they_stood() -> None:
    data = json.dumps([talk(message(text="a\ud83d"), message("assistant", "whole 🌊"), name="t\udc00")])
    first, second = records(items_of(CLAUDE, {"c.json": data}))
    assert (first.text, first.flags) == ("a\ufffd", ("surrogates_replaced",))
    assert (second.text, second.flags) == ("whole 🌊", ())
    assert first.conversation is not None
    assert first.conversation.title == "t\ufffd"


def test_a_single_conversation_and_a_wrapper() -> None:
    for document in (talk(message()), {"conversations": [talk(message())]}, [talk(message())]):
        assert CLAUDE.detects(memory_bundle({"x": json.dumps(document)}))
        assert texts(items_of(CLAUDE, {"x": json.dumps(document)})) == ["words"]


def test_a_vault_of_notes_does_not_open_zips_that_lie_in_it(tmp_path: Path) -> None:
    (tmp_path / ".obsidian").mkdir()
    (tmp_path / ".obsidian" / "app.json").write_text("{}")
    (tmp_path / "note.md").write_text("words")
    (tmp_path / "conversations-1.zip").write_bytes(zip_bytes({"conversations.json": json.dumps([talk(message())])}))
    with open_bundle(tmp_path) as bundle:
        assert "conversations-1.zip" in [file.name for file in bundle.files]
        assert detect_format(bundle).format == "obsidian"
