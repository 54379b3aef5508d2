"""A short text is read by the claim model while it is embedded: whoever stores it finds it read."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from engine_rig import rig_at

from core.belief.extract.claim_model import ClaimModel
from core.belief.extract.extraction import extract_claims
from core.intake.claims import TextReaders
from core.types.belief import ClaimDraft
from core.types.values import Kind

SHORT = "My sister Noor works at the lock keeper's office."


class Recorder:
    """Reads nothing, and knows which text was read by which thread."""

    def __init__(self) -> None:
        self.read: list[tuple[str, bool]] = []

    def __call__(self, text: str, *, now_ms: int | None = None, said_ms: int | None = None) -> tuple[ClaimDraft, ...]:
        del now_ms, said_ms
        self.read.append((text, threading.current_thread().name.startswith("loci-prompt")))
        return ()


@pytest.mark.parametrize(
    ("text", "kind", "ahead"),
    [(SHORT, Kind.FACT, True), (SHORT * 20, Kind.FACT, False), (SHORT, Kind.EPISODE, False)],
)
def test_a_short_text_that_is_compared_is_read_before_the_writer_has_it(
    tmp_path: Path, text: str, kind: Kind, ahead: bool
) -> None:
    recorder = Recorder()
    with rig_at(tmp_path, readers=TextReaders(extract_stored=recorder)) as rig:
        rig.store(text, kind=kind)
    assert [is_ahead for _, is_ahead in recorder.read[:1]] == ([True] if ahead else [False] * bool(recorder.read))
    assert sum(is_ahead for _, is_ahead in recorder.read) == ahead
    if kind is Kind.FACT:
        assert recorder.read[-1] == (recorder.read[0][0], False)


def test_nothing_is_read_ahead_where_only_rules_read() -> None:
    recorder = Recorder()
    TextReaders(extract=recorder).read_ahead(SHORT)
    assert recorder.read == []


def test_what_was_read_ahead_is_not_given_to_the_model_again() -> None:
    model = ClaimModel()

    def extract(text: str, *, now_ms: int | None = None, said_ms: int | None = None) -> tuple[ClaimDraft, ...]:
        return extract_claims(text, now_ms=now_ms, said_ms=said_ms, model=model)

    TextReaders(extract_stored=extract).read_ahead(SHORT)
    known = model.read(SHORT)
    assert extract(SHORT, now_ms=1, said_ms=1) == extract_claims(SHORT, now_ms=1, said_ms=1, model=ClaimModel())
    assert model.read(SHORT) is known
