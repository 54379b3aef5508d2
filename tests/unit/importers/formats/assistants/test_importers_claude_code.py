"""Claude Code sessions: fixture, growing files, injected blocks, odd lines, detection."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from import_checker import check_fixture
from importer_checks import (
    fixture,
    items_of,
    memory_bundle,
    ms_of,
    path_of,
    reasons,
    records,
)

from core.importers.conversation import cut_blocks
from core.importers.detect import detect_format
from core.importers.dry_run import import_items
from core.importers.formats.sessions.claude_code import ClaudeCodeImporter
from core.importers.input.source import open_bundle
from core.types.values import Role

CODE = ClaudeCodeImporter()


def test_fixture() -> None:
    check_fixture("claude-code")


def test_a_session_that_goes_on_adds_only_its_new_line(tmp_path: Path) -> None:
    shutil.copytree(path_of("claude-code"), tmp_path / "c", copy_function=shutil.copyfile)
    more = fixture("claude-code")["append_check"]
    with open_bundle(tmp_path / "c") as bundle:
        before = {record.identity: record for record in records(list(import_items(bundle, CODE)))}
    with (tmp_path / "c" / more["file"]).open("ab") as file:
        file.write(more["append"].encode())
    with open_bundle(tmp_path / "c") as bundle:
        after = records(list(import_items(bundle, CODE)))
    new = [record for record in after if record.identity not in before]
    assert [record.role for record in new] == [Role.ASSISTANT] * more["adds"]["assistant_messages"]
    assert all(phrase in new[0].text for phrase in more["must_find"])
    assert new[0].occurred is not None
    assert new[0].occurred.ms == ms_of(more["latest_in_session"])
    assert {record.identity: record.position for record in after if record.identity in before} == {
        identity: record.position for identity, record in before.items()
    }


def test_one_session_file_and_the_list_of_prompts_alone() -> None:
    folder = path_of("claude-code")
    with open_bundle(folder / "history.jsonl") as bundle:
        assert detect_format(bundle).format == "claude-code"
        assert reasons(list(CODE.read(bundle))) == {"prompt_history": 1}
        assert records(list(CODE.read(bundle))) == []
    with open_bundle(next(folder.glob("projects/*gauge/cbc5*.jsonl"))) as bundle:
        assert detect_format(bundle).format == "claude-code"
        assert len(records(list(CODE.read(bundle)))) == 4


def line(kind: str = "user", content: object = "words", uuid: str | None = "u1", **more: Any) -> dict[str, Any]:
    made = {
        "parentUuid": None,
        "sessionId": "s",
        "type": kind,
        "cwd": "/w",
        "message": {"role": kind, "content": content},
        "timestamp": "2026-01-01T00:00:00.000Z",
    }
    return made | ({"uuid": uuid} if uuid else {}) | more


def read(*lines: Any, end: str = "\n") -> list[Any]:
    text = "\n".join(entry if isinstance(entry, str) else json.dumps(entry) for entry in lines)
    return items_of(CODE, {"s.jsonl": text + end})


def texts(items: list[Any]) -> list[str]:
    return [record.text for record in records(items)]


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        (line(isMeta=True), "meta"),
        (line(isSidechain=True), "sidechain"),
        (line(isCompactSummary=True), "compact_summary"),
        (line(content="This session is being continued from a previous conversation that ran out of context. X"), None),
        (line("assistant", [{"type": "text", "text": "API Error"}], isApiErrorMessage=True), "synthetic"),
        (line("assistant", message={"model": "<synthetic>", "content": "No response requested."}), "synthetic"),
        (line("assistant", [{"type": "thinking", "thinking": "x"}]), "thinking"),
        (line("assistant", [{"type": "tool_use", "input": {}}]), "tool_use"),
        (line("assistant", [{"type": "thinking"}, {"type": "tool_use"}]), "tool_use"),
        (line(content=[{"type": "tool_result", "content": "x"}]), "tool_result"),
        (line(content=[{"type": "image", "source": {}}]), "no_text"),
        (line(content=""), "no_text"),
        (line(content=None), "no_text"),
        (line(content="[Request interrupted by user]"), "only_injected_blocks"),
        (line(content="<system-reminder>x</system-reminder>\n"), "only_injected_blocks"),
        ({"type": "summary", "summary": "x", "leafUuid": "y"}, "other_line_types"),
        (line("attachment"), "other_line_types"),
    ],
)
def test_left_out_lines(entry: dict[str, Any], reason: str | None) -> None:
    items = read(entry)
    assert records(items) == []
    assert reasons(items) == {reason or "compact_summary": 1}


def test_text_beside_tools_is_kept() -> None:
    content = [{"type": "thinking"}, {"type": "text", "text": "kept"}, {"type": "tool_use"}]
    assert texts(read(line("assistant", content))) == ["kept"]
    content = [{"type": "text", "text": "<system-reminder>a</system-reminder>"}, {"type": "text", "text": "own"}]
    assert texts(read(line(content=content))) == ["own"]


def test_repeats_are_told_by_session_and_uuid() -> None:
    items = read(line(), line(), line(sessionId="other"), line(uuid=None), line(uuid=None))
    assert [record.identity for record in records(items)][:2] == ["claude-code:s:u1", "claude-code:other:u1"]
    assert reasons(items) == {"repeated_history": 1}
    assert records(items)[2].identity == records(items)[3].identity  # `import_items` stores it once


def test_bad_lines_are_told_by_number_and_a_half_last_one_is_expected() -> None:
    items = read(line(), '{"half', "[1]", "", line(content="end", uuid="u2"), '{"type":"user","mess', end="")
    assert texts(items) == ["words", "end"]
    assert reasons(items) == {"bad_line": 1, "not_an_object": 1, "incomplete_last_line": 1}
    assert [item.where for item in items if hasattr(item, "message")] == ["s.jsonl:2", "s.jsonl:3"]
    assert texts(read(line(), end="")) == ["words"]


def test_titles_even_at_the_end_and_the_persons_own_first() -> None:
    title = {"type": "ai-title", "aiTitle": "made up", "sessionId": "s"}
    own = {"type": "custom-title", "customTitle": "chosen", "sessionId": "s"}
    for lines, want in (
        ((line(), title), "made up"),
        ((line(), own, title), "chosen"),
        ((title, line(), own), "chosen"),
        ((line(), {**title, "sessionId": "x"}), None),
    ):
        conversation = records(read(*lines))[0].conversation
        assert conversation is not None
        assert conversation.title == want


def test_working_folder_comes_from_the_records() -> None:
    first, second = records(read(line(), line(uuid="u2", cwd="/elsewhere")))
    assert first.conversation is not None
    assert first.conversation is second.conversation
    assert first.conversation.extra["cwd"] == "/w"
    assert second.extra["cwd"] == "/elsewhere"


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("a <b> c", "a <b> c"),
        ("  spaces stay  ", "  spaces stay  "),
        ("own\n\n<system-reminder>\nx\n</system-reminder>", "own"),
        ("<system-reminder>x</system-reminder>\n\nown  ", "own  "),
        ("a <system-reminder>x</system-reminder> b", "a  b"),
        ("<command-name>/x</command-name>\n<command-args>y</command-args>\n own", "own"),
        ("why `<system-reminder>` and `</system-reminder>`?", "why `<system-reminder>` and `</system-reminder>`?"),
        ("see <system-reminder> there", "see <system-reminder> there"),
        ("see <system-reminder> there <system-reminder>x</system-reminder>", "see <system-reminder> there"),
        ("</system-reminder> odd", "</system-reminder> odd"),
        ("<system-reminder>a <system-reminder>b</system-reminder> c</system-reminder>own", "own"),
        ("<other>x</other>", "<other>x</other>"),
        ('<task-notification id="1">x</task-notification>own', "own"),
    ],
)
def test_only_complete_blocks_are_cut(written: str, kept: str) -> None:
    items = read(line(content=written))
    assert texts(items) == [kept]


RECALL = """# Memory Context
> These are stored facts.
> They are data only.

## Key Facts
<memory id="1" type="fact" confidence="high">
likes tea # not a heading
</memory>
- <memory id="2" type="fact">x</memory>

## Episodes
<memory id="3" type="episode">y</memory>
"""


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        (RECALL + "\nMy question?", "My question?"),
        ("Before.\n\n" + RECALL, "Before."),
        ("Before.\n" + RECALL + "\nAfter.", "Before.\n\n\nAfter."),
        ("# Memory Context\nI wrote this heading myself.", "# Memory Context\nI wrote this heading myself."),
        ('a <memory id="1" type="fact">x</memory> b', "a  b"),
        ("a <memory>x</memory> b", "a <memory>x</memory> b"),
        (RECALL.replace("> ", ""), ""),
    ],
)
def test_own_recall_never_comes_back_as_words(written: str, kept: str) -> None:
    assert cut_blocks(written, ()) == kept


def test_very_many_tags_take_linear_time() -> None:
    many = "<system-reminder>" * 50_000 + "x" + "</system-reminder>" * 50_000
    assert texts(read(line(content="own " + many))) == ["own"]
    assert texts(read(line(content="<system-reminder>" * 50_000))) == ["<system-reminder>" * 50_000]


def test_a_line_of_many_megabytes_goes_through() -> None:
    big = line(content=[{"type": "tool_result", "content": "x" * 8_000_000}], uuid="big")
    items = read(big, line(content="after"))
    assert texts(items) == ["after"]
    assert reasons(items) == {"tool_result": 1}


def test_detection() -> None:
    first = json.dumps(line(content="x" * 100_000))
    assert CODE.detects(memory_bundle({"a.txt": first}))
    assert CODE.detects(memory_bundle({"p/a.jsonl": json.dumps(line()), "settings.json": "{}"}, "folder"))
    for other in ('{"text": "row"}', "plain words", "", '{"sessionId": "s"}'):
        assert not CODE.detects(memory_bundle({"a.jsonl": other or " "}))


def test_native_memory_files_are_told() -> None:
    files = {"projects/-w/s.jsonl": json.dumps(line()), "projects/-w/memory/MEMORY.md": "# x"}
    assert reasons(items_of(CODE, files, "folder")) == {"native_memory": 1}


def test_lone_surrogate_in_a_line_is_flagged() -> None:
    (record,) = records(read(line(content="cut \ud83c")))
    assert (record.text, record.flags) == ("cut \ufffd", ("surrogates_replaced",))
