"""Projects and memories of a Claude.ai export: documents become sources, Claude's own memory becomes proposals.

Must not do: tie a conversation to a project, store what Claude wrote about a person without their approval.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from core.importers.input.shape import head_keys
from core.importers.input.source import SourceFile
from core.importers.input.streams import Parsed, iter_json_array, read_json
from core.importers.records.conversation_parts import as_list, as_mapping, as_text, digest, joined_words, known
from core.importers.records.records import Item, Record, Skip, Trouble
from core.text.times import parse_time
from core.types.values import Kind, Role, Source, Status

_ARRAYS = ("", "projects")


def read_projects(file: SourceFile) -> Iterator[Item]:
    """The documents and instructions of the projects in a file.

    Args:
        file: `projects.json` with a list, or one project's own file.

    Yields:
        Sources; skips for documents without words.
    """
    for number, parsed in enumerate(_values(file), 1):
        where = f"{file.name}:{number}"
        if isinstance(parsed.value, dict):
            yield from _project(parsed.value, where)
        else:
            yield Trouble(where, "this entry is not a project", "not_an_object")


def _values(file: SourceFile) -> Iterator[Parsed]:
    return iter_json_array(file, _ARRAYS) if "[]" in head_keys(file) else iter([read_json(file)])


def _project(project: Mapping[str, Any], where: str) -> Iterator[Item]:
    name = as_text(project.get("name"))
    key = as_text(project.get("uuid")) or digest(name or "")
    about = {"project": name, "project_id": key, "project_description": as_text(project.get("description"))}
    for number, entry in enumerate(as_list(project.get("docs")), 1):
        document = as_mapping(entry)
        text, replaced = joined_words([document["content"]] if isinstance(document.get("content"), str) else [])
        if not text.strip():
            yield Skip("empty_document", f"{where}:{number}")
            continue
        document_id = as_text(document.get("uuid")) or digest(as_text(document.get("filename")) or "", text)
        yield _source(
            f"claude:project:{key}:{document_id}",
            text,
            f"{where}:{number}",
            document.get("created_at"),
            replaced,
            about | {"part": "project_doc", "title": as_text(document.get("filename")), "message": document_id},
        )
    prompt = project.get("prompt_template")
    text, replaced = joined_words([prompt] if isinstance(prompt, str) else [])
    if text.strip():
        identity = f"claude:project:{key}:prompt:{digest(text)}"
        yield _source(identity, text, where, project.get("updated_at"), replaced, about | {"part": "project_prompt"})


def _source(identity: str, text: str, where: str, time: object, replaced: int, extra: Mapping[str, Any]) -> Record:
    return Record(
        identity=identity,
        text=text,
        where=where,
        role=Role.SOURCE,
        source=Source.DOCUMENT,
        author="source",
        occurred=parse_time(time),
        flags=("surrogates_replaced",) if replaced else (),
        extra=known(extra),
    )


def read_memories(file: SourceFile) -> Iterator[Item]:
    """What Claude wrote about the person, as proposals.

    Args:
        file: `memories.json`, an object or a list of them.

    Yields:
        One proposal for the memory over conversations and one for each project's memory.
    """
    for number, parsed in enumerate(_values(file), 1):
        where = f"{file.name}:{number}"
        memories = as_mapping(parsed.value)
        account = as_text(memories.get("account_uuid")) or ""
        yield from _proposal(memories.get("conversations_memory"), f"{account}:conversations", where, None)
        for project_id, text in as_mapping(memories.get("project_memories")).items():
            yield from _proposal(text, f"{account}:{project_id}", where, project_id)


def _proposal(value: object, key: str, where: str, project_id: str | None) -> Iterator[Item]:
    text, replaced = joined_words([value] if isinstance(value, str) else [])
    if not text.strip():
        return
    yield Record(
        # The text is part of the identity: a later export with a changed memory is a new proposal.
        identity=f"claude:memory:{key}:{digest(text)}",
        text=text,
        where=where,
        kind=Kind.FACT,
        role=Role.ASSISTANT,
        source=Source.INFERENCE,
        status=Status.QUARANTINED,
        author="Claude",
        flags=("surrogates_replaced",) if replaced else (),
        extra=known(
            {
                "origin": "memories.json project_memories" if project_id else "memories.json conversations_memory",
                "project_id": project_id,
            }
        ),
    )
