"""What lies beside the conversations of a Claude.ai export: projects with their documents, and what Claude noted.

Must not do: guess which project a conversation belongs to, or take a note about a person for that person's word.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from core.importers.conversation import as_list, as_mapping, as_text, content_id, join_texts, not_a
from core.importers.input.source import SourceFile
from core.importers.input.streams import ParsedJson, head_keys, iter_json_array, read_json
from core.importers.records import Item, Record, SkippedPart
from core.importers.transcripts.turn import complete_document, complete_proposal
from core.text.times import parse_time
from core.types.values import Role

_AUTHOR = "Claude"
_PROJECT_ARRAYS = ("", "projects")


def read_projects(file: SourceFile) -> Iterator[Item]:
    """The documents and instructions of the projects in a file.

    Args:
        file: `projects.json` with a list, or one project's own file.

    Yields:
        Sources; skips for documents without words.
    """
    for number, parsed in enumerate(_read_values(file), 1):
        where = f"{file.name}:{number}"
        if isinstance(parsed.value, dict):
            yield from _read_project(parsed.value, where)
        else:
            yield not_a("project", where)


def _read_values(file: SourceFile) -> Iterator[ParsedJson]:
    return iter_json_array(file, _PROJECT_ARRAYS) if "[]" in head_keys(file) else iter([read_json(file)])


def _read_project(project: Mapping[str, Any], where: str) -> Iterator[Item]:
    name = as_text(project.get("name"))
    key = as_text(project.get("uuid")) or content_id(name or "")
    about = {"project": name, "project_id": key, "project_description": as_text(project.get("description"))}
    for number, entry in enumerate(as_list(project.get("docs")), 1):
        document = as_mapping(entry)
        text, replaced = join_texts([document["content"]] if isinstance(document.get("content"), str) else [])
        if not text.strip():
            yield SkippedPart("empty_document", f"{where}:{number}")
            continue
        document_id = as_text(document.get("uuid")) or content_id(as_text(document.get("filename")) or "", text)
        found = Record(
            identity=f"claude:project:{key}:{document_id}",
            text=text,
            where=f"{where}:{number}",
            occurred=parse_time(document.get("created_at")),
            extra=about | {"part": "project_doc", "title": as_text(document.get("filename")), "message": document_id},
        )
        yield complete_document(found, replaced)
    prompt = project.get("prompt_template")
    text, replaced = join_texts([prompt] if isinstance(prompt, str) else [])
    if text.strip():
        found = Record(
            identity=f"claude:project:{key}:prompt:{content_id(text)}",
            text=text,
            where=where,
            occurred=parse_time(project.get("updated_at")),
            extra=about | {"part": "project_prompt"},
        )
        yield complete_document(found, replaced)


def read_memories(file: SourceFile) -> Iterator[Item]:
    """What Claude wrote about the person, as proposals.

    Args:
        file: `memories.json`, an object or a list of them.

    Yields:
        One proposal for the memory over conversations and one for each project's memory.
    """
    for number, parsed in enumerate(_read_values(file), 1):
        where = f"{file.name}:{number}"
        memories = as_mapping(parsed.value)
        account = as_text(memories.get("account_uuid")) or ""
        yield from _read_proposal(memories.get("conversations_memory"), f"{account}:conversations", where, None)
        for project_id, text in as_mapping(memories.get("project_memories")).items():
            yield from _read_proposal(text, f"{account}:{project_id}", where, project_id)


def _read_proposal(value: object, key: str, where: str, project_id: str | None) -> Iterator[Item]:
    text, replaced = join_texts([value] if isinstance(value, str) else [])
    if not text.strip():
        return
    note = Record(
        # The text is part of the identity: a later export with a changed memory is a new proposal.
        identity=f"claude:memory:{key}:{content_id(text)}",
        text=text,
        where=where,
        role=Role.ASSISTANT,
        extra={
            "origin": "memories.json project_memories" if project_id else "memories.json conversations_memory",
            "project_id": project_id,
        },
    )
    yield complete_proposal(note, _AUTHOR, replaced)
