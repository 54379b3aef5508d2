"""`loci watch` from the first folder to the last, with a real engine that the system tells of changes."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_rig import MINUTE_S, Palace

from core.types.clock import SystemClock

_LONG_AGO_S = 1_500_000_000


@pytest.fixture
def notes(palace: Palace) -> Path:
    folder = palace.folder / "notes"
    folder.mkdir()
    write(folder / "ferry.md", "The ferry leaves at seven.")
    return folder


def write(path: Path, text: str) -> None:
    """A file that was written long ago."""
    path.write_text(text, encoding="utf-8")
    os.utime(path, (_LONG_AGO_S, _LONG_AGO_S))


def wait_until(is_so: Callable[[], bool]) -> None:
    """Ask again and again, for a minute at most."""
    clock = SystemClock()
    end = clock.monotonic() + MINUTE_S
    while not is_so():
        assert clock.monotonic() < end, "it did not come within a minute"


def texts(palace: Palace) -> list[str]:
    return sorted(item["text"] for item in palace.json("list")["items"])


def test_a_folder_is_shown_before_it_is_watched(palace: Palace, notes: Path) -> None:
    assert "No folder is watched" in palace.run("watch", "list").out
    assert palace.json("watch", "add", str(notes), "--dry-run")["stored"] == 1
    asked = palace.run("watch", "add", str(notes))
    assert (asked.code, "give --yes" in asked.err) == (2, True)
    assert texts(palace) == []
    done = palace.run("watch", "add", str(notes), "--yes", "--space", "harbour").out
    assert "Watched from here on" in done
    assert "1 memory of it is in the vault" in done
    listed = palace.run("watch", "list").out
    assert "Not watched now" in listed
    assert "markdown, into harbour" in listed
    palace.run("watch", "add", str(palace.folder / "absent"), "--yes").refused(2, "E4005")


def test_a_running_engine_brings_what_is_new(palace: Palace, notes: Path) -> None:
    with palace.serving() as serving:
        ident = palace.json("watch", "add", str(notes), "--yes")["folder"]["id"]
        (notes / "deep").mkdir()
        write(notes / "deep" / "boat.md", "The boat is moored at Askøy.")
        wait_until(lambda: "The boat is moored at Askøy." in texts(palace))
        write(notes / "ferry.md", "The ferry leaves at eight.")
        wait_until(lambda: "The ferry leaves at eight." in texts(palace))
        assert "The ferry leaves at seven." not in texts(palace)
        (notes / "deep" / "boat.md").unlink()
        wait_until(lambda: palace.json("watch", "status")["folders"][0]["asked"] == 1)
        os.kill(serving.pid, signal.SIGKILL)
        serving.ended()
    write(notes / "crew.md", "Nora and Ivar sail.")
    with palace.serving():
        wait_until(lambda: "Nora and Ivar sail." in texts(palace))
        assert palace.json("watch", "list")["folders"][0]["means"] == "events"
        said = palace.run("watch", "log", ident).out
        assert "deep/boat.md is not there any more: 1 memory" in said
        assert "1 new version" in said
        assert "Archived" in palace.run("watch", "archive", ident, "deep/boat.md").out
        assert texts(palace) == ["Nora and Ivar sail.", "The ferry leaves at eight."]
        palace.run("watch", "keep", ident).refused(1, "E2005")
        assert "Switched off" in palace.run("watch", "pause", ident[-8:]).out
        assert "Switched on again" in palace.run("watch", "resume", ident).out
        assert "Not watched any more" in palace.run("watch", "remove", ident).out
        assert palace.json("watch", "list")["folders"] == []
    assert json.loads(palace.run("--json", "verify").out)["status"] == "ok"


def test_the_hook_of_an_assistant_is_put_in_and_taken_out(palace: Palace) -> None:
    person = palace.folder / "person"
    talks = person / ".claude" / "projects" / "boat"
    talks.mkdir(parents=True)
    line = {
        "type": "user", "sessionId": "s", "uuid": "u", "parentUuid": None, "timestamp": "2026-03-01T10:00:00Z",
        "message": {"role": "user", "content": "Where is the boat moored?"},
    }  # fmt: skip
    write(talks / "s.jsonl", json.dumps(line) + "\n")
    settings = person / ".claude" / "settings.json"
    settings.write_text('{\n  "theme": "dark"\n}\n', encoding="utf-8")
    palace.environment["HOME"] = str(person)
    assert palace.run("hooks", "install", "claude-code").code == 2
    said = palace.run("hooks", "install", "claude-code", "--yes").out
    assert "Claude Code tells Loci when something was said" in said
    assert texts(palace) == ["Where is the boat moored?"]
    assert palace.json("hooks", "install", "claude-code", "--yes")["is_new"] is False
    command = json.loads(settings.read_text("utf-8"))["hooks"]["Stop"][0]["hooks"][0]["command"]
    assert command.endswith("watch-now")
    done = palace.bare("--home", str(palace.home), "watch-now", '{"type": "agent-turn-complete"}')
    assert (done.code, done.out, done.err) == (0, "", "")
    assert (palace.home / "run" / "look").is_file()
    said = palace.run("hooks", "remove", "claude-code").out
    assert "is still watched" in said
    assert settings.read_text("utf-8") == '{\n  "theme": "dark"\n}\n'
    assert "No hook of Loci stands" in palace.run("hooks", "remove", "claude-code").out
