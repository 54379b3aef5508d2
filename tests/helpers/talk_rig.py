"""A stand-in for the reader of talk: a line that ends with a full stop states something, the rest is small talk.

The subject of a statement is who speaks, as third person: "I have a dog." of Mara becomes "Mara has a dog.".
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType

from engine_rig import Rig

from core.lifecycle.job_support.job_context import TalkReader
from core.types.talk import ConversationStatements, Statement, StatementType, Turn
from core.types.values import OWNER_ACTOR

_SAID = re.compile(r"I (have|like|live|am|work)\b([^.!?]*\.)")
_FORMS = {"have": "has", "like": "likes", "live": "lives", "am": "is", "work": "works"}


def plain_reader(version: str = "plain-1", kinds: Mapping[str, StatementType] = MappingProxyType({})) -> TalkReader:
    """Reads "I have …", "I like …", "I live …" and nothing else.

    Args:
        kinds: what a verb's statement is of, instead of a place (`live`) or a possession.
    """
    return TalkReader(version, partial(_distill, {"live": StatementType.PLACE, **kinds}))


def _distill(kinds: Mapping[str, StatementType], turns: Sequence[Turn]) -> ConversationStatements:
    made: list[Statement] = []
    is_lasting = True
    for one in turns:
        who = one.speaker or "You"
        for match in _SAID.finditer(one.text):
            text = f"{who} {_FORMS[match[1]]}{match[2]}"
            kind = kinds.get(match[1], StatementType.POSSESSION)
            made.append(Statement(text, who, kind, is_lasting, 0.9, one.episode_id, match.span(), one.said_ms))
    spoken = {one.episode_id for one in made}
    small = tuple(one.episode_id for one in turns if one.episode_id not in spoken)
    return ConversationStatements(tuple(made), small, {"question": sum("?" in one.text for one in turns)})


def bring_talk(rig: Rig, lines: Sequence[tuple[str, str]], name: str = "talk.jsonl", session: str = "s1") -> str:
    """Import lines of (author, text) as one conversation.

    Returns:
        The import's id.
    """
    file: Path = rig.folder / name
    rows = [
        {"text": text, "author": who, "session": session, "ref": f"{session}:{n}", "time": f"2025-03-0{1 + n % 9}"}
        for n, (who, text) in enumerate(lines)
    ]
    file.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    report = rig.engine.imports.run(file, None, None, OWNER_ACTOR).result(60)
    assert report.import_id is not None
    return report.import_id


TALK = (
    ("Mara", "Hi there!"),
    ("Jon", "Hello, how are you?"),
    ("Mara", "Fine. I have a grey cat."),
    ("Jon", "Nice! I live in Graz."),
    ("Mara", "Cool! Cats bring so much happiness!"),
)
