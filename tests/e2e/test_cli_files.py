"""Files of memories on the command line: attached, shown, found, saved, refused in a sentence, undone."""

from __future__ import annotations

import pytest
from cli_rig import Palace


@pytest.mark.starts_process
def test_a_file_is_attached_found_shown_and_saved(palace: Palace) -> None:
    note = palace.folder / "ferry.txt"
    note.write_text("The ferry to Vik leaves at nine.\n\nDogs travel free.")
    said = palace.run("attach", str(note), "--caption", "Timetable").out
    assert said.startswith("Attached “ferry.txt”: ")
    assert palace.run("recall", "when does the ferry leave").out.count("ferry to Vik") == 1
    memory = palace.json("list")["items"][0]["id"]
    shown = palace.run("file", "show", memory[-8:], "--text").out
    assert "Timetable" in shown
    assert "The ferry to Vik leaves at nine.\n\nDogs travel free.\n" in shown
    found = palace.json("file", "show", memory)["files"]
    assert [(one["name"], one["media_type"]) for one in found] == [("ferry.txt", "text/plain")]
    out = palace.folder / "out"
    out.mkdir()
    assert "out/ferry.txt" in palace.run("file", "save", memory, str(out)).out
    assert (out / "ferry.txt").read_bytes() == note.read_bytes()
    palace.run("file", "save", memory, str(out)).refused(1, "E6005")
    again = palace.json("attach", str(note), "--caption", "Timetable")
    assert (again["operation"], again["deduplicated"]) == ("NOOP", True)
    several = palace.json("attach", str(note), str(note), "--space", "work")["files"]
    assert [one["operation"] for one in several] == ["ADD", "NOOP"]
    palace.run("attach", str(palace.folder)).refused(1, "E6005")
    halted = palace.run("attach", str(note), str(palace.folder), "--caption", "Timetable")
    assert "ferry.txt" in halted.out
    assert (halted.code, halted.err[:5]) == (1, "E6005")
    palace.run("attach", str(palace.folder / "none")).refused(1, "E2005")
    palace.run("undo")
    palace.run("undo")
    palace.run("file", "show", memory).refused(1, "E2005")


@pytest.mark.starts_process
def test_a_long_text_is_shown_whole_beside_a_running_engine(palace: Palace) -> None:
    lines = [f"Line {number}: the ferry to Vik leaves at nine, 🐕 travel free." for number in range(3_000)]
    note = palace.folder / "ferry.txt"
    note.write_text("\n".join(lines))
    with palace.serving():
        memory = palace.json("attach", str(note), "--caption", "Timetable")["memory_id"]
        shown = palace.run("file", "show", memory, "--text").out
        caption, view = palace.json("file", "show", memory, "--text")["views"]
    assert "\n".join(lines) in shown
    assert (caption["text"], view["text"], view["left"]) == ("Timetable", "\n".join(lines), 0)
    assert view["stretches"] == [{"page": None, "start": 0, "end": len(view["text"])}]
