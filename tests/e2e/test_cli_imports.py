"""One drop on the command line: sources with samples, choosing some, leaving some out, and one undo for all."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_rig import Palace, Shell
from importer_checks import zip_bytes

CHAT = "25/2/2024, 9:41 - Ana: The mooring is paid for until October.\n"
EVENT = "BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Low tide\nDTSTART:20240301T090000Z\nEND:VEVENT\nEND:VCALENDAR\n"


@pytest.fixture
def dropped(palace: Palace) -> Path:
    """A folder of downloads: a chat in an archive in an archive, a calendar, a film."""
    folder = palace.folder / "Downloads"
    folder.mkdir()
    (folder / "all.zip").write_bytes(zip_bytes({"old/chat.zip": zip_bytes({"_chat.txt": CHAT})}))
    (folder / "tides.ics").write_text(EVENT, encoding="utf-8")
    (folder / "film\x1b[31m.mp4").write_bytes(b"\x00\x00\x00\x18ftypmp42")
    return folder


def lines_of(shell: Shell, *words: str) -> list[str]:
    return shell.run("import", *words).out.splitlines()


def test_a_dry_run_lists_sources_and_shows_samples_where_they_are_asked_for(palace: Palace, dropped: Path) -> None:
    with palace.shell() as shell:
        plain = lines_of(shell, str(dropped), "--dry-run")
        assert plain[plain.index("2 sources:") :] == [
            "2 sources:",
            "  all.zip/old/chat.zip  (whatsapp)  1 new, 2024-02-25",
            "  tides.ics  (calendar)  1 new, 2024-03-01",
            "  not read: film<U+001B>[31m.mp4  (in no format Loci knows)",
        ]
        shown = lines_of(shell, str(dropped), "--dry-run", "--samples")
        assert "    “The mooring is paid for until October.”" in shown
        assert shell.json("list")["total"] == 0
        reply = shell.json("import", str(dropped), "--dry-run", "--samples")
        assert [(one["name"], one["format"], one["new"]) for one in reply["sources"]] == [
            ("all.zip/old/chat.zip", "whatsapp", 1),
            ("tides.ics", "calendar", 1),
            ("film\x1b[31m.mp4", "", 0),
        ]
        assert "sources" not in shell.json("import", str(dropped), "--dry-run")
        shell.run("import", str(dropped), "--samples").refused(2, "E4005")


def test_sources_are_chosen_or_left_out_and_taken_back_at_once(palace: Palace, dropped: Path) -> None:
    with palace.shell() as shell:
        one = shell.json("import", str(dropped), "--only", "calendar")
        assert (one["stored"], one["skipped"]["not_chosen"]) == (1, 1)
        rest = shell.json("import", str(dropped), "--without", "tides.ics")
        assert (rest["stored"], rest["format"]) == (1, "mixed")
        shell.run("import", str(dropped), "--only", "nothing of the kind").refused(2, "E4005")
        shell.json("unimport", one["import_id"])
        shell.json("unimport", rest["import_id"])
        both = shell.json("import", str(dropped))
        assert both["stored"] == 2
        shell.json("unimport", both["import_id"])
        assert shell.json("list")["total"] == 0


def test_a_list_is_offered_line_by_line_and_comes_in_only_one_way(palace: Palace) -> None:
    path = palace.folder / "facts.txt"
    path.write_text("My sister is Ana.\nDentist: Dr Hale\nBlood type 0+\n", encoding="utf-8")
    offer = (
        "This file is a list of 3 short lines and would be one memory. With --each-line: each line a memory of its own."
    )
    with palace.shell() as shell:
        assert offer in lines_of(shell, str(path), "--dry-run")
        assert offer not in lines_of(shell, str(path), "--dry-run", "--each-line")
        shell.run("import", str(path), "--each-line", "--format", "text").refused(2, "E4005")
        done = shell.json("import", str(path), "--each-line")
        assert (done["stored"], done["format"]) == (3, "lines")
        assert shell.json("import", str(path), "--each-line")["skipped"] == {"known": 3}
        told = shell.run("import", str(path)).out
        assert "This list came in before: as one memory, or line by line." in told
        shell.json("unimport", done["import_id"])
        assert shell.json("import", str(path))["stored"] == 1
