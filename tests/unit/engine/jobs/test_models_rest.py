"""What a job loaded is let go of when it rests."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from core.engine.jobs.runner import _free_models
from core.intake.claims import TextReaders
from core.lifecycle.job_support.job_context import TalkReader
from core.types.talk import ConversationStatements


def test_claims_and_talk_are_let_go_of() -> None:
    rested: list[str] = []
    readers = TextReaders(rest=lambda: rested.append("claims"))
    talk = TalkReader("v", lambda _: ConversationStatements((), (), {}), lambda: rested.append("talk"))
    _free_models(cast(Any, SimpleNamespace(readers=readers)), talk)
    assert rested == ["claims", "talk"]


def test_where_nothing_is_loaded_nothing_is_let_go_of() -> None:
    _free_models(cast(Any, SimpleNamespace(readers=TextReaders())), None)
