"""What a person sees of an import through the command line, held against the fields of expected.json.

A record that was split into linked parts is seen whole here. Must not do: look into the vault or the importers.
"""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from cli_rig import FIXTURES, Palace, Shell

EXPECTED: Mapping[str, Any] = json.loads((FIXTURES / "expected.json").read_text("utf-8"))
WANTED: Mapping[str, Mapping[str, Any]] = {row["id"]: row for row in EXPECTED["fixtures"]}
TOLERANCE_MS = 1000 * EXPECTED["time_tolerance_s"]
# The contract's names of formats; expected.json has words of its own.
FORMATS = {
    "obsidian-vault": "obsidian",
    "notes-folder": "markdown",
    "plain-text": "text",
    "generic-jsonl": "jsonl",
    "generic-csv": "csv",
}
CHAT = ("user", "assistant")


def ms_of(iso: str) -> int:
    """Epoch milliseconds of an ISO time."""
    return round(datetime.fromisoformat(iso).timestamp() * 1000)


def is_near(found: str | None, wanted: str | None, tolerance_ms: int = TOLERANCE_MS) -> bool:
    """Whether two times are the same, or both unknown."""
    if found is None or wanted is None:
        return found is wanted
    return abs(ms_of(found) - ms_of(wanted)) <= tolerance_ms


def digest(text: str) -> str:
    """SHA-256 of the UTF-8 text."""
    return sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Whole:
    """A record as it was in the file.

    Attributes:
        text: all its parts, joined.
        item: the first part as `list` shows it.
    """

    text: str
    item: Mapping[str, Any]

    @property
    def is_chat(self) -> bool:
        """Whether it stands as words of a person or an assistant."""
        return self.item["role"] in CHAT and self.item["status"] == "active"

    @property
    def message(self) -> str | None:
        """The message's id in the file."""
        found: str | None = self.item["extra"].get("message")
        return found


class View:
    """One import as it is seen from outside.

    Attributes:
        want: the fixture's expectations.
        shell: a command line on the palace.
        report: what `import --json` said.
        items: every memory, as `list` shows it.
        records: the same, parts joined.
    """

    def __init__(self, want: Mapping[str, Any], shell: Shell, report: Mapping[str, Any]) -> None:
        self.want, self.shell, self.report = want, shell, report
        self.items = shell.json("list", "--status", "all", "--limit", "1000000")["items"]
        self.records = joined(self.items)
        self._shown: dict[str, dict[str, Any]] = {}

    @property
    def chat(self) -> list[Whole]:
        """Messages of the person and the assistant."""
        return [record for record in self.records if record.is_chat]

    def show(self, record: Whole) -> dict[str, Any]:
        """Everything about the first part of a record."""
        ident = record.item["id"]
        if ident not in self._shown:
            self._shown[ident] = self.shell.json("show", ident)
        return self._shown[ident]

    def where(self, record: Whole) -> str:
        """Its place in the file that was imported."""
        return str(self.show(record)["provenance"]["origin"]["where"])

    def conversations(self) -> list[list[Whole]]:
        """Chat messages by conversation, in order."""
        found: dict[str, list[Whole]] = {}
        for record in self.chat:
            found.setdefault(record.item["conversation_id"], []).append(record)
        return [sorted(group, key=lambda record: int(record.item["position"])) for group in found.values()]

    def in_row(self, row: Mapping[str, Any]) -> Whole:
        """The one record that a row of expected.json speaks of."""
        if row.get("message"):
            found = [r for r in self.records if r.message == row["message"] and not r.item["extra"].get("part")]
        elif "line" in row or "record" in row:
            found = [r for r in self.records if place_of(self.where(r)) == row.get("line", row.get("record"))]
        elif "file" in row:
            found = [r for r in self.records if self.where(r) == row["file"]]
        else:
            found = [r for r in self.records if digest(r.text) == row["sha256"]]
        (record,) = found
        return record


def place_of(where: str) -> int:
    """The line or record number at the end of a place such as `rows.jsonl:12` or `x.csv:record 3`."""
    return int(where.rpartition(":")[2].removeprefix("record "))


def joined(items: list[dict[str, Any]]) -> list[Whole]:
    """Put the parts of split records together.

    Args:
        items: as `list` shows them, in any order.
    """
    groups: dict[str, list[dict[str, Any]]] = {}
    for item in items:
        groups.setdefault(item["part_of"] or item["id"], []).append(item)
    for parts in groups.values():
        parts.sort(key=lambda item: int(item["part_index"] or 0))
        numbers = [item["part_index"] for item in parts]
        assert numbers in ([None], list(range(len(parts))))
    return [Whole("".join(item["text"] for item in parts), parts[0]) for parts in groups.values()]


def path_in(palace: Palace, fixture_id: str) -> Path:
    """A copy of a fixture in the palace's folder, with what its `setup` asks for."""
    want = WANTED[fixture_id]
    source = FIXTURES / str(want["path"])
    target: Path = palace.folder / "in" / source.name
    if source.is_dir():
        shutil.copytree(source, target)
    else:
        target.parent.mkdir()
        shutil.copy2(source, target)
    if "fifo_name" in want:
        os.mkfifo(target / want["fifo_name"])
    return target


# --- one check for each field that can be seen from outside


def check_counts(view: View) -> None:
    """`counts`, under whatever name the format gives them."""
    counts, report = dict(view.want["counts"]), view.report
    chat = Counter(record.item["role"] for record in view.chat)
    assert report["messages"]["user"] == counts.pop("user_messages", 0) == chat["user"]
    assert report["messages"]["assistant"] == counts.pop("assistant_messages", 0) == chat["assistant"]
    proposals = [record for record in view.records if record.item["status"] == "quarantined"]
    assert report["proposals"] == counts.pop("proposals", 0) == len(proposals)
    assert report["stored"] == len(view.records)
    if "conversations" in counts:
        assert report["conversations"] == counts.pop("conversations") == len(view.conversations())
        whole = {"empty_conversation", "do_not_remember_conversation"}
        left_out = sum(count for reason, count in report["skipped"].items() if reason in whole)
        assert counts.pop("conversations_in_file", report["conversations"] + left_out) == (
            report["conversations"] + left_out
        )
    _rows(view, counts)
    _parts(view, counts)
    _openmemory(view, counts)
    _graph(view, counts)
    assert counts == {}


def _rows(view: View, counts: dict[str, int]) -> None:
    for name in ("rows_stored", "memories", "items"):
        assert counts.pop(name, len(view.records)) == len(view.records), name
    bad = sum(view.report["skipped"].values())
    for name in ("lines", "records"):
        assert counts.pop(name, len(view.records) + bad) == len(view.records) + bad, name
    if "notes" in counts:
        boards = [record for record in view.records if record.item["extra"].get("type") == "canvas"]
        assert counts.pop("canvases", 0) == len(boards)
        assert counts.pop("notes") == len(view.records) - len(boards)
        counts.pop("attachments", 0)  # a picture has no words; it is seen as a link's target


def _parts(view: View, counts: dict[str, int]) -> None:
    parts = Counter(record.item["extra"].get("part") for record in view.records)
    for name, part in (
        ("attachment_sources", "attachment"),
        ("project_docs", "project_doc"),
        ("project_prompts", "project_prompt"),
    ):
        assert counts.pop(name, 0) == parts[part], name
    projects = {r.item["extra"]["project_id"] for r in view.records if "project_id" in r.item["extra"]}
    assert counts.pop("projects", len(projects)) >= len(projects)  # one without words leaves nothing to see
    if "lone_surrogates" in counts:
        titles = {view.show(group[0])["provenance"]["conversation"]["title"] for group in view.conversations()}
        cut = sum(r.item["extra"].get("replaced", 0) for r in view.records) + "".join(titles).count("\ufffd")
        assert counts.pop("lone_surrogates") == cut


def _openmemory(view: View, counts: dict[str, int]) -> None:
    if "memories_active" not in counts:
        return
    standing = Counter(record.item["status"] for record in view.records)
    assert standing == {"active": counts.pop("memories_active"), "archived": counts.pop("memories_hidden")}
    extras = [record.item["extra"] for record in view.records]
    assert counts.pop("apps") == len({extra["app"] for extra in extras})
    assert counts.pop("categories") == len({tag for record in view.records for tag in record.item["tags"]})
    rules = {json.dumps(rule, sort_keys=True) for extra in extras for rule in extra["suggested_scopes"]}
    assert counts.pop("suggested_client_scopes") == len(rules)


def _graph(view: View, counts: dict[str, int]) -> None:
    if "observations" not in counts:
        return
    observed = [record for record in view.records if "entity" in record.item["extra"]]
    facts = [record.item["extra"]["relation"] for record in view.records if "relation" in record.item["extra"]]
    assert counts.pop("observations") == len(observed) == len(view.records) - len(facts)
    assert sorted([one["from"], one["relation"], one["to"]] for one in facts) == sorted(view.want["relations"])
    named = Counter((r.item["extra"]["entity"], r.item["extra"]["entity_type"]) for r in observed)
    wanted = {(row["name"], row["type"]): row["observations"] for row in view.want["entities"] if row["observations"]}
    assert named == wanted
    told = [[r["from"], r["relation"], r["to"]] for w in view.records for r in w.item["extra"].get("relations", ())]
    distinct = {tuple(row) for row in told}
    assert distinct == {tuple(row) for row in view.want["relations"]}
    assert counts.pop("relations") == len(distinct)
    ends = {name for row in distinct for name in (row[0], row[2])}
    assert counts.pop("entities") == len({name for name, _ in named} | ends)


def check_times(view: View) -> None:
    """`earliest` and `latest`, in the report and over what is listed."""
    tolerance = 1000 * view.want.get("time_tolerance_s", EXPECTED["time_tolerance_s"])
    times = sorted(r.item["occurred_at"] for r in view.records if r.item["occurred_at"] is not None)
    for name, place in (("earliest", 0), ("latest", -1)):
        wanted = view.want.get(name)
        assert is_near(view.report[name], wanted, tolerance), name
        if wanted is None:
            assert times == []
        elif not view.want.get("proposals"):  # a proposal is not among the counted messages
            assert is_near(times[place], wanted, tolerance), name


def check_skipped(view: View) -> None:
    """`skipped`: every reason with its count; media and prompt lists are told besides."""
    wanted = {row["reason"]: row["count"] for row in view.want.get("skipped", ())}
    told = dict(view.report["skipped"])
    assert told.pop("media_files", 0) == view.want.get("media_files", 0)
    told.pop("prompt_history", None)
    assert told == wanted


def check_row_errors(view: View) -> None:
    """`row_errors`: line and reason of each bad row."""
    wanted = view.want.get("row_errors", ())
    errors = view.report["errors"]
    assert [place_of(error["where"]) for error in errors] == [row["line"] for row in wanted]
    assert all(error["message"].startswith(row["reason"]) for error, row in zip(errors, wanted, strict=True))


def check_conversations(view: View) -> None:
    """`conversations`: each with its title, counts, times, order and first and last message."""
    wanted = [row for row in view.want.get("conversations", ()) if "skipped" not in row]
    groups = view.conversations()
    if "conversations" in view.want:
        assert len(groups) == len(wanted)
    for row in wanted:
        _conversation(view, row, groups)


def _conversation(view: View, row: Mapping[str, Any], groups: list[list[Whole]]) -> None:
    def times(group: list[Whole]) -> list[str]:
        return sorted(r.item["occurred_at"] for r in group if r.item["occurred_at"] is not None)

    (group,) = [found for found in groups if is_near(times(found)[0], row["earliest"])]
    assert is_near(times(group)[-1], row["latest"])
    roles = Counter(record.item["role"] for record in group)
    assert (roles["user"], roles["assistant"]) == (row["user_messages"], row["assistant_messages"])
    assert [record.item["position"] for record in group] == list(range(len(group)))
    told = view.show(group[0])["provenance"]["conversation"]
    if "title" in row:
        assert told["title"] == row["title"]
    if "conversation_time" in row:
        assert is_near(told["started_at"], row["conversation_time"])
    if "first_message" in row:
        assert (group[0].message, group[-1].message) == (row["first_message"], row["last_message"])
    if "file" in row:
        assert {view.where(record).rpartition(":")[0] for record in group} == {row["file"]}
        assert {record.item["session"] for record in group} == {row["id"]}


def check_proposals(view: View) -> None:
    """`proposals`: text and origin of what waits for approval."""
    waiting = {r.text: r.item for r in view.records if r.item["status"] == "quarantined"}
    wanted = view.want.get("proposals", ())
    assert set(waiting) == {row["text"] for row in wanted}
    for row in wanted:
        item = waiting[row["text"]]
        assert (item["kind"], item["source"], item["status_reason"]) == ("fact", "inference", "proposed")
        assert item["extra"]["origin"] == row["origin"] or (item["extra"]["origin"] == "bio" and "bio" in row["origin"])
        assert item["extra"].get("message") == row.get("message")


def check_texts(view: View) -> None:
    """`exact_texts` and `long_texts`: every character, whole or as parts that join."""
    for row in (*view.want.get("exact_texts", ()), *view.want.get("long_texts", ())):
        record = view.in_row(row)
        assert (digest(record.text), len(record.text)) == (row["sha256"], row["chars"])
        assert record.text == row.get("text", record.text)
        assert len(record.text.encode()) == row.get("utf8_bytes", len(record.text.encode()))
        assert record.item["role"] == row.get("role", record.item["role"])
        assert ("surrogates_replaced" in record.item["flags"]) == bool(row.get("replaced"))
        parts = view.show(record)["provenance"]["parts"]
        whole = [view.shell.json("show", ident)["text"] for ident in parts] or [view.show(record)["text"]]
        assert "".join(whole) == record.text
    if "nul_bytes" in view.want:
        assert sum(record.text.count("\0") for record in view.records) == view.want["nul_bytes"]


def check_row_times(view: View) -> None:
    """`row_times`: what each row's time means."""
    wanted = view.want.get("row_times", ())
    if not wanted:
        return
    times = {place_of(view.where(record)): record.item["occurred_at"] for record in view.records}
    assert set(times) == {row.get("line", row.get("record")) for row in wanted}
    for row in wanted:
        assert is_near(times[row.get("line", row.get("record"))], row["means"])


def check_phrases(view: View) -> None:
    """`must_find` and its kin, through `list --text`."""
    want, listed = view.want, ("list", "--status", "all", "--text")
    for phrase in (*want.get("must_find", ()), *want.get("must_find_only_when_hidden_are_shown", ())):
        found = view.shell.json(*listed, phrase)
        assert found["total"] >= 1, phrase
        assert all(phrase in item["text"] for item in found["items"])
    for phrase in want.get("must_find_only_when_hidden_are_shown", ()):
        assert view.shell.json("list", "--text", phrase)["total"] == 0
        recalled = view.shell.json("recall", phrase)["items"]
        assert all(phrase not in item["text"] for item in recalled)
    for phrase in want.get("must_occur_once", ()):
        assert sum(record.text.count(phrase) for record in view.records) == 1, phrase
    told = [view.show(group[0])["provenance"]["conversation"] for group in view.conversations()]
    everything = json.dumps([view.items, told, view.report], ensure_ascii=False)
    for phrase in want.get("must_not_store", ()):
        assert json.dumps(phrase, ensure_ascii=False)[1:-1] not in everything, phrase
        assert view.shell.json(*listed, phrase)["total"] == 0, phrase
    chat = [record.text for record in view.records if record.item["role"] in CHAT]
    for phrase in want.get("not_as_chat_words", ()):
        assert not any(phrase in text for text in chat), phrase


def check_projects(view: View) -> None:
    """`conversations_assigned_to_a_project`: none may be."""
    if "conversations_assigned_to_a_project" in view.want:
        assigned = [r for r in view.chat if "project_id" in r.item["extra"] or r.item["space"] != "home"]
        assert len(assigned) == view.want["conversations_assigned_to_a_project"] == 0


def check_notes(view: View) -> None:
    """The fields of a vault of notes."""
    want = view.want
    if "notes_list" not in want:
        return
    notes = {view.where(record): record for record in view.records}
    for row in want["notes_list"]:
        item = notes[row["path"]].item
        assert item["extra"]["title"] == row.get("title", Path(row["path"]).stem)
        assert item["extra"]["aliases"] == row.get("aliases", [])
        # `created` is what the front matter tells; a page without any is dated by its name.
        named = Path(row["path"]).stem if row["path"].startswith("Journal/") else None
        assert is_near(item["occurred_at"], row.get("created") or (f"{named}T00:00:00Z" if named else None))
        assert ("front_matter_broken" in item["flags"]) == ("flag" in row)
        assert (item["kind"], item["role"], item["author"], item["source"]) == (
            "episode", "source", "source", "document",
        )  # fmt: skip
        assert digest(notes[row["path"]].text) == EXPECTED["files"][want["path"] + row["path"]]["sha256"]
    for row in want["front_matter_as_written"]:
        assert notes[row["path"]].item["extra"]["front_matter"][row["key"]] == row["text"]
    _labels(want, notes)


def _labels(want: Mapping[str, Any], notes: Mapping[str, Whole]) -> None:
    tags = {tag for record in notes.values() for tag in record.item["tags"]}
    assert set(want["tags"]) <= tags
    assert not tags & set(want["must_not_be_tags"])
    assert not {record.item["category"] for record in notes.values()} & set(want["must_not_be_categories"])
    keys = ("target", "to", "kind", "heading", "block", "alias")
    told = [(row["from"], *(row.get(key) for key in keys)) for row in want["links"]]
    links = [(path, *(row[key] for key in keys)) for path, r in notes.items() for row in r.item["extra"]["links"]]
    assert sorted(map(repr, links)) == sorted(map(repr, told))
    assert not {link[1] for link in links} & set(want["must_not_be_links"])


CHECKS = {
    "counts": check_counts,
    "earliest": check_times,
    "latest": check_times,
    "skipped": check_skipped,
    "media_files": check_skipped,
    "row_errors": check_row_errors,
    "conversations": check_conversations,
    "proposals": check_proposals,
    "exact_texts": check_texts,
    "long_texts": check_texts,
    "nul_bytes": check_texts,
    "row_times": check_row_times,
    "must_find": check_phrases,
    "must_find_only_when_hidden_are_shown": check_phrases,
    "must_not_store": check_phrases,
    "must_occur_once": check_phrases,
    "not_as_chat_words": check_phrases,
    "conversations_assigned_to_a_project": check_projects,
    "entities": check_counts,
    "relations": check_counts,
    "notes_list": check_notes,
    "tags": check_notes,
    "must_not_be_tags": check_notes,
    "must_not_be_categories": check_notes,
    "must_not_be_links": check_notes,
    "links": check_notes,
    "front_matter_as_written": check_notes,
    "byte_exact": check_notes,
}
"""Field of expected.json to the check that reads it."""
