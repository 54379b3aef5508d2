"""OpenCode, Continue and Cursor: parts, indexes and databases that are cut, foreign, busy or not there."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from importer_checks import FIXTURES, items_of, memory_bundle, reasons, records

from core.errors import Code, UserError
from core.importers.formats.sessions.continue_sessions import ContinueImporter
from core.importers.formats.sessions.cursor import CursorImporter
from core.importers.formats.sessions.opencode import OpenCodeImporter
from core.importers.input import database

OPENCODE, CONTINUE, CURSOR = OpenCodeImporter(), ContinueImporter(), CursorImporter()
STATE = (FIXTURES / "cursor" / "input" / "state.vscdb").read_bytes()


def opencode(message: object, *parts: object) -> list[Any]:
    files = {"message/ses_1/msg_1.json": json.dumps(message)}
    files |= {f"part/msg_1/prt_{nr}.json": json.dumps(part) for nr, part in enumerate(parts)}
    return items_of(OPENCODE, files, "folder")


USER = {"id": "msg_1", "sessionID": "ses_1", "role": "user", "time": {"created": 1_764_000_000_000}}


def test_texts_of_a_message_are_joined_and_what_the_program_added_is_not() -> None:
    parts = [
        {"type": "text", "text": "a"},
        {"type": "text", "text": "no", "synthetic": True},
        {"type": "text", "text": "b"},
    ]
    (record,) = records(opencode(USER, *parts))
    assert record.text == "a\n\nb"


@pytest.mark.parametrize("message", [[], "x", {}, {"time": 5, "role": 7}, {"time": {"created": "nonsense"}}])
def test_a_message_in_another_form_is_survived(message: object) -> None:
    assert [one.text for one in records(opencode(message, {"type": "text", "text": "words"}))] == ["words"]


def test_a_part_that_is_no_json_is_told() -> None:
    files = {"message/s/m.json": json.dumps(USER), "part/m/p.json": '{"type": "te'}
    assert reasons(items_of(OPENCODE, files, "folder")) == {"bad_message": 1}


def test_messages_without_parts_are_no_storage() -> None:
    assert not OPENCODE.detects(memory_bundle({"message/s/m.json": json.dumps(USER)}, "folder"))


def continue_session(history: object, **more: object) -> list[Any]:
    session = {"sessionId": "s", "workspaceDirectory": "", "history": history, **more}
    return items_of(CONTINUE, {"s.json": json.dumps(session)})


def test_a_session_without_an_index_has_no_times() -> None:
    (record,) = records(continue_session([{"message": {"role": "user", "content": "x"}}]))
    assert (record.occurred, record.flags) == (None, ("time_unreadable",))


@pytest.mark.parametrize("history", [None, {}, "x", 5])
def test_a_session_in_another_form_is_told(history: object) -> None:
    assert reasons(continue_session(history)) == {"bad_conversation": 1}


@pytest.mark.parametrize("content", [None, 5, [], [None], [{"type": "text"}], [{"type": "imageUrl"}]])
def test_a_turn_without_words_is_counted(content: object) -> None:
    items = continue_session([{"message": {"role": "user", "content": content}}])
    assert set(reasons(items)) <= {"no_text", "media_only"}
    assert len(items) == 1


def test_other_json_is_no_session() -> None:
    assert not CONTINUE.detects(memory_bundle({"a.json": '{"sessionId": "x", "messages": []}'}))
    assert not CONTINUE.detects(memory_bundle({"a.json": '{"sessionId": "x", "history": [1]}'}))


def state(folder: Path, *statements: str, values: Sequence[object] = ()) -> bytes:
    path = folder / "made.vscdb"
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as made:
        for statement in statements:
            made.execute(statement)
        for number, value in enumerate(values):
            made.execute("INSERT INTO cursorDiskKV VALUES (?, ?)", (f"composerData:{number}", value))
        made.commit()
    return path.read_bytes()


TABLE = "CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)"


def test_a_table_that_is_a_view_is_not_read(tmp_path: Path) -> None:
    raw = state(tmp_path, "CREATE VIEW cursorDiskKV AS SELECT 'composerData:x' AS key, '{}' AS value")
    assert CURSOR.detects(memory_bundle({"a.vscdb": raw}))
    assert items_of(CURSOR, {"a.vscdb": raw}) == []


def test_values_of_any_kind_are_told_or_survived(tmp_path: Path) -> None:
    values = [None, 5, "[]", "{}", b"\xff\x00", '{"fullConversationHeadersOnly": {"a": 1}}']
    items = items_of(CURSOR, {"a.vscdb": state(tmp_path, TABLE, values=values)})
    assert reasons(items) == {"bad_conversation": 4, "empty_conversation": 2}


def test_a_database_is_too_large_or_too_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "_STEP", 1)
    monkeypatch.setattr(database, "_MOST_STEPS", 3)
    with pytest.raises(UserError, match="damaged database"):
        items_of(CURSOR, {"a.vscdb": STATE})
    monkeypatch.setattr(database, "MOST", 100)
    with pytest.raises(UserError, match="too large to be read") as error:
        items_of(CURSOR, {"a.vscdb": STATE})
    assert error.value.code is Code.IMPORT_REFUSED


@settings(max_examples=60, deadline=None)
@given(st.integers(0, len(STATE) - 1), st.binary(min_size=1, max_size=60))
def test_any_damage_of_a_database_is_refused_or_survived(at: int, noise: bytes) -> None:
    damaged = bytearray(STATE)
    damaged[at : at + len(noise)] = noise
    with suppress(UserError):
        assert len(items_of(CURSOR, {"a.vscdb": bytes(damaged)})) <= 12
