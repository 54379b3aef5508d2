"""Looking for exports: found by content, never through a link, never beyond the bounds."""

from __future__ import annotations

import json
import os
import shutil
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from core.importers import source_discovery
from core.importers.source_discovery import PlaceKind, SourceFolder, discover_sources, named_folders, usual_folders
from core.types.clock import ManualClock
from core.types.replies import Candidate

CHATGPT = json.dumps([{"id": "c", "title": "T", "mapping": {"a": {"message": None}}, "current_node": "a"}])
CLAUDE = json.dumps([{"uuid": "c", "name": "T", "chat_messages": []}])
CLAUDE_CODE = json.dumps({"type": "user", "sessionId": "s", "parentUuid": None, "uuid": "u", "message": {}}) + "\n"


def never() -> bool:
    return False


def look(*places: SourceFolder, stopped: Callable[[], bool] = never) -> dict[str, Candidate]:
    return {one.path: one for one in discover_sources(places, ManualClock(0), stopped)}


def put(path: Path, content: str, at: int = 1_700_000_000) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    os.utime(path, (at, at))
    return path


def test_the_usual_places_of_a_home(tmp_path: Path) -> None:
    put(tmp_path / "Downloads" / "conversations.json", CHATGPT, 1_700_000_300)
    put(tmp_path / ".claude" / "projects" / "-work" / "one.jsonl", CLAUDE_CODE, 1_700_000_100)
    put(tmp_path / ".claude" / "projects" / "-play" / "two.jsonl", CLAUDE_CODE, 1_700_000_200)
    put(tmp_path / "Documents" / "Notes" / "Garden.md", "# Garden", 1_700_000_000)
    put(tmp_path / "Documents" / "Notes" / "deep" / "er" / "Kiln.md", "# Kiln", 1_699_000_000)
    put(tmp_path / "Documents" / "Notes" / ".obsidian" / "app.json", "{}")
    put(tmp_path / "Documents" / "letter.md", "Dear Jo")
    put(tmp_path / "Desktop" / "rows.json", '[{"text": "anybody’s"}]')
    found = discover_sources(usual_folders(tmp_path), ManualClock(0), never)
    assert [(Path(one.path).relative_to(tmp_path).as_posix(), one.format, one.count) for one in found] == [
        ("Downloads/conversations.json", "chatgpt", 1),
        (".claude/projects", "claude-code", 2),
        ("Documents/Notes", "obsidian", 2),
    ]
    assert found[1].label == "Claude Code sessions"
    assert found[1].size == 2 * len(CLAUDE_CODE)
    assert found[1].changed_at == 1_700_000_200_000


def test_an_unpacked_export_is_one_folder(tmp_path: Path) -> None:
    export = tmp_path / "data-2025"
    put(export / "conversations.json", CLAUDE)
    put(export / "users.json", "[]")
    put(tmp_path / "other" / "conversations.json", CHATGPT)
    found = look(*named_folders([tmp_path]))
    assert {path: (one.format, one.count) for path, one in found.items()} == {
        str(export): ("claude", 2),
        str(tmp_path / "other" / "conversations.json"): ("chatgpt", 1),
    }


def test_archives_are_told_by_what_is_in_them(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "anything.zip", "w") as archive:
        archive.writestr("conversations.json", CHATGPT)
    with zipfile.ZipFile(tmp_path / "conversations.zip", "w") as archive:
        archive.writestr("holiday.txt", "sun")
    (tmp_path / "broken.zip").write_bytes(b"PK\x03\x04 nothing more")
    assert list(look(*named_folders([tmp_path]))) == [str(tmp_path / "anything.zip")]


def test_other_files_are_no_candidates(tmp_path: Path) -> None:
    put(tmp_path / "conversations.json", '{"not": "an export"}')
    put(tmp_path / "empty.json", "")
    put(tmp_path / "package.json", '{"name": "x", "version": "1"}')
    put(tmp_path / "log.jsonl", '{"level": "info", "message": "started"}\n')
    (tmp_path / "bytes.json").write_bytes(bytes(range(256)))
    assert look(*named_folders([tmp_path])) == {}


def test_no_link_is_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    put(outside / "conversations.json", CHATGPT)
    home = tmp_path / "home"
    (home / "Documents").mkdir(parents=True)
    (home / "Downloads").symlink_to(outside)
    (home / "Documents" / "there").symlink_to(outside)
    (home / "Documents" / "conversations.json").symlink_to(outside / "conversations.json")
    assert look(*usual_folders(home)) == {}
    assert look(*named_folders([home / "Downloads"])) != {}, "what the person names may lead over a link"


def test_hidden_and_deep_folders_are_passed_over(tmp_path: Path) -> None:
    put(tmp_path / ".cache" / "conversations.json", CHATGPT)
    put(tmp_path / "node_modules" / "conversations.json", CHATGPT)
    put(tmp_path / "a" / "b" / "c" / "conversations.json", CHATGPT)
    put(tmp_path / "a" / "b" / "c" / "d" / "conversations.json", CHATGPT)
    assert list(look(*named_folders([tmp_path]))) == [str(tmp_path / "a" / "b" / "c" / "conversations.json")]


def test_places_that_are_not_there_or_cannot_be_read_are_no_error(tmp_path: Path) -> None:
    put(tmp_path / "file", "x")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    os.mkfifo(tmp_path / "pipe.json")
    locked = tmp_path / "locked"
    put(locked / "conversations.json", CHATGPT)
    locked.chmod(0)
    try:
        found = look(*named_folders([tmp_path / "nowhere", tmp_path / "file", tmp_path / "loop", tmp_path]))
    finally:
        locked.chmod(0o700)
    assert set(found) <= {str(locked / "conversations.json")}  # root reads everything


@pytest.mark.parametrize("kind", [PlaceKind.CLAUDE_CODE, PlaceKind.CODEX])
def test_a_folder_of_other_logs_holds_no_sessions(tmp_path: Path, kind: PlaceKind) -> None:
    put(tmp_path / "x.jsonl", '{"level": "info"}\n')
    assert look(SourceFolder(tmp_path, kind)) == {}


def test_the_work_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(12):
        put(tmp_path / f"{n:02d}" / "export.json", CHATGPT)
    everything = look(*named_folders([tmp_path]))
    assert len(everything) == 12
    for name, bound in (("MOST_ENTRIES", 15), ("MOST_SNIFFED", 3), ("MOST_FOUND", 3)):
        with monkeypatch.context() as patch:
            patch.setattr(source_discovery, name, bound)
            assert 0 < len(look(*named_folders([tmp_path]))) <= 4, name
    with monkeypatch.context() as patch:
        patch.setattr(source_discovery, "MOST_SECONDS", 0.0)
        assert look(*named_folders([tmp_path])) == {}


def test_it_stops_when_asked_and_keeps_what_it_has(tmp_path: Path) -> None:
    for n in range(12):
        put(tmp_path / f"{n:02d}" / "export.json", CHATGPT)
    asked = iter(range(1000))
    found = look(*named_folders([tmp_path]), stopped=lambda: next(asked) > 30)
    assert 0 < len(found) < 12


FIXTURES = Path(__file__).parents[2] / "fixtures" / "imports"


def test_newer_programs_keep_their_sessions_in_usual_places(tmp_path: Path) -> None:
    places = {
        "opencode": tmp_path / ".local" / "share" / "opencode" / "storage",
        "continue": tmp_path / ".continue" / "sessions",
        "cursor": tmp_path / ".config" / "Cursor" / "User" / "globalStorage",
    }
    for form, folder in places.items():
        shutil.copytree(FIXTURES / form / "input", folder)
    found = {one.format: one for one in discover_sources(usual_folders(tmp_path), ManualClock(0), never)}
    assert found.keys() == places.keys()
    assert [found[form].path for form in ("opencode", "continue")] == [
        str(places[form]) for form in ("opencode", "continue")
    ]
    assert Path(found["cursor"].path).name == "state.vscdb"


@pytest.mark.parametrize(
    ("form", "ending"), [("joplin", ".jex"), ("imessage", ".txt"), ("org", ".org"), ("html", ".html"), ("pdf", ".pdf")]
)
def test_newer_exports_are_found_among_downloads(tmp_path: Path, form: str, ending: str) -> None:
    files = [path for path in sorted((FIXTURES / form / "input").rglob(f"*{ending}")) if path.is_file()]
    assert files
    downloads = tmp_path / "Downloads"
    downloads.mkdir()
    for file in files:
        shutil.copyfile(file, downloads / file.name)
    found = [one.format for one in discover_sources(usual_folders(tmp_path), ManualClock(0), never)]
    assert form in found


def test_a_packed_export_of_pages_is_found(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "Export-1.tar.gz", "w:gz") as archive:
        archive.add(FIXTURES / "notion" / "input", arcname="Export-1")
    assert [one.format for one in look(*named_folders([tmp_path])).values()] == ["notion"]


def test_documents_do_not_crowd_exports_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_discovery, "_MOST_DOCUMENTS", 2)
    for number in range(5):
        put(tmp_path / f"{number}.html", f"<!DOCTYPE html><html><body><p>Page {number}</p></body></html>")
    put(tmp_path / "conversations.json", CHATGPT)
    found = sorted(one.format for one in look(*named_folders([tmp_path])).values())
    assert found == ["chatgpt", "html", "html"]
