"""`loci jobs`, `consolidate` and `sweep`: what is due, what a run does, and taking it back."""

from __future__ import annotations

import json

from cli_rig import Palace

JARS = [
    "The plum jars stand on the cellar shelf.",
    "Ada repaired the kiln in June.",
    "The ferry to Hven leaves at nine.",
]
LATER = {"LOCI_NOW": "+500d"}


def test_an_unused_palace_has_a_calendar_and_nothing_done(palace: Palace) -> None:
    told = palace.json("jobs")
    assert (told["paused"], told["jobs"], told["pressure"]) == (False, [], "normal")
    assert {"sweep", "consolidate"} <= {beat["type"] for beat in told["calendar"]}
    assert all(beat["last_at"] is None for beat in told["calendar"])
    words = palace.run("jobs").out
    assert "Consolidate" in words
    assert "last never" in words


def test_a_sweep_archives_what_nothing_protects_and_is_taken_back(clocked: Palace) -> None:
    path = clocked.folder / "jars.jsonl"
    path.write_text("".join(json.dumps({"text": text, "kind": "fact"}) + "\n" for text in JARS), encoding="utf-8")
    clocked.json("import", str(path))
    kept = clocked.json("remember", "The cellar key hangs behind the clock.")["memory_id"]
    swept = clocked.json("sweep", variables=LATER)
    assert sum(swept["swept"].get(name, 0) for name in ("expired", "faded")) == len(JARS)
    assert len(swept["steps"]) == 1
    assert {beat["type"] for beat in clocked.json("jobs", variables={"LOCI_NOW": "+990d"})["calendar"] if beat["due"]}
    assert "due now" in clocked.run("jobs", variables={"LOCI_NOW": "+990d"}).out
    told = clocked.json("jobs", variables=LATER)
    assert not any(beat["due"] for beat in told["calendar"] if beat["type"] == "sweep")
    assert {row["type"] for row in told["jobs"]} == {"sweep", "episodes"}
    assert all(row["state"] == "done" for row in told["jobs"])
    assert clocked.json("show", kept, variables=LATER)["status"] == "active"
    assert clocked.json("list", "--status", "archived", variables=LATER)["total"] == len(JARS)
    clocked.json("undo", variables=LATER)
    assert clocked.json("list", "--status", "archived", variables=LATER)["total"] == 0
    assert "undone" in clocked.run("jobs", variables=LATER).out


def test_a_dry_run_of_a_consolidation_and_a_run_agree(palace: Palace) -> None:
    for text in (*JARS, "On the cellar shelf stand the plum jars."):
        palace.json("remember", text)
    would = palace.json("consolidate", "--dry-run")
    assert would["dry_run"]
    assert palace.json("jobs")["jobs"] == []
    did = palace.json("consolidate")
    assert not did["dry_run"]
    for name in ("deduplicated", "contradictions", "corroborated", "compressed", "pruned"):
        assert did[name] == would[name]
    again = palace.json("consolidate")
    assert (again["deduplicated"], again["compressed"]["clusters"], again["step"]) == (0, 0, None)
    assert palace.run("consolidate", "--dry-run").out.startswith("A run would do: ")
