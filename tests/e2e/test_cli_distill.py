"""`loci distill`: offered by an import, looked at beforehand, made, and taken back."""

from __future__ import annotations

import json

from cli_rig import Palace

SAID = (
    ("Mara", "Hey Jon! How are you?"),
    ("Jon", "Good, thanks! See you later!"),
    ("Mara", "I have two cats, Miso and Tofu."),
    ("Jon", "I am allergic to peanuts."),
)


def test_an_import_offers_statements_and_a_run_makes_what_its_preview_told(palace: Palace) -> None:
    path = palace.folder / "talk.jsonl"
    rows = [{"text": text, "author": who, "session": "s", "time": "2025-03-01T10:00:00Z"} for who, text in SAID]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    done = palace.json("import", str(path))
    would = palace.json("distill", "--import", done["import_id"], "--dry-run")
    assert set(would) == {"statements", "small_talk", "skipped"}
    assert {one["id"] for one in would["statements"]} == {None}
    assert palace.json("list", "--kind", "fact")["total"] == 0
    made = palace.json("distill", "--import", done["import_id"][-8:])
    told = [one["text"] for one in made["statements"]]
    assert told == [one["text"] for one in would["statements"]]
    assert any("cats" in text and "Mara" in text for text in told)
    for one in made["statements"]:
        episode = palace.json("show", one["episode_id"])
        begin, end = one["span"]
        assert episode["text"][begin:end].strip(" .!") in "\n".join(text for _, text in SAID)
        assert 0 <= begin < end <= len(episode["text"])
        assert palace.json("show", one["id"])["kind"] == "fact"
    assert len(made["small_talk"]) >= 2
    assert palace.json("distill")["statements"] == []
    palace.json("undo")
    assert palace.json("list", "--kind", "fact")["total"] == 0
    assert "A run would make" in palace.run("distill", "--dry-run").out


def test_an_import_says_in_words_how_statements_are_made_of_it(palace: Palace) -> None:
    path = palace.folder / "one.jsonl"
    path.write_text(json.dumps({"text": "I have two cats.", "author": "Mara", "session": "s"}) + "\n", encoding="utf-8")
    assert "loci distill --import" in palace.run("import", str(path)).out
