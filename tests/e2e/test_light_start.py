"""What only greets an engine loads none: help, and every verb that an engine which runs already answers."""

from __future__ import annotations

import pytest
from cli_rig import Palace

ENGINE = {"core.engine.facade", "numpy", "sqlcipher3", "onnxruntime", "tokenizers", "hnswlib", "jsonschema", "pydantic"}
BESIDE_RECALL = (
    "core.belief.extract", "core.belief.relate.distinctions", "core.belief.relate.owner_contradiction",
    "core.belief.relate.relation_model", "core.engine.clients", "core.engine.jobs",
    "core.engine.memories", "core.engine.views", "core.entities", "core.intake.claims", "core.intake.erase",
    "core.intake.review", "core.intake.store", "core.intake.transitions", "core.lifecycle", "core.llm",
    "core.memory.floor_plan", "core.sessions", "core.talk", "core.types.entities", "core.types.lifecycle",
    "core.types.replies", "core.types.reviews", "core.types.sessions", "core.types.views", "core.vault.backup",
    "fsrs", "jsonschema", "rapidfuzz",
)  # fmt: skip
"""What one question needs nothing of: what stores, reads, judges, tidies and shows."""
TRACED = {"PYTHONPROFILEIMPORTTIME": "1"}


def loaded(traced: str) -> set[str]:
    """The modules that a process imported, as Python itself tells."""
    return {line.rpartition("|")[2].strip() for line in traced.splitlines() if line.startswith("import time:")}


def test_the_help_loads_no_engine_and_opens_no_key(palace: Palace) -> None:
    done = palace.bare("--help", variables=TRACED)
    assert done.code == 0
    assert "recall" in done.out
    found = loaded(done.err)
    assert "click" in found
    assert not found & {*ENGINE, "cryptography", "argon2", "asyncio", "rich", "keyring"}


def test_the_hook_of_an_assistant_loads_no_engine_and_opens_no_key(palace: Palace) -> None:
    done = palace.bare("watch-now", variables=TRACED)
    assert (done.code, done.out) == (0, "")
    assert not loaded(done.err) & {*ENGINE, "cryptography", "argon2", "rich", "keyring", "mcp", "core.engine.home.keys"}


@pytest.mark.parametrize("verb", [("recall", "the spare keys"), ("list",), ("status",), ("export", "-")])
def test_a_verb_that_a_running_engine_answers_loads_no_engine(palace: Palace, verb: tuple[str, ...]) -> None:
    with palace.serving():
        done = palace.run(*verb, variables=TRACED)
    assert done.code == 0, done.err
    found = loaded(done.err)
    assert "core.engine.home.keys" in found
    assert not found & ENGINE


def test_a_question_to_a_vault_that_is_opened_for_it_loads_what_answers_and_no_more(palace: Palace) -> None:
    assert palace.run("remember", "The spare keys hang behind the tide clock.").code == 0
    done = palace.run("recall", "the spare keys", variables=TRACED)
    assert done.code == 0, done.err
    assert "tide clock" in done.out
    found = loaded(done.err)
    assert {"core.engine.facade", "core.recall.pipeline", "onnxruntime"} <= found
    for room in BESIDE_RECALL:
        assert not [name for name in found if name == room or name.startswith(f"{room}.")]


def test_a_command_that_is_forked_says_what_a_fresh_one_says(palace: Palace) -> None:
    palace.run("remember", "The kettle is blue")
    for verb in (
        ("--help",),
        ("recall", "tea", "--limit", "0"),
        ("nonsense",),
        ("--json", "status"),
        ("--json", "list"),
        ("show", "nothing"),
        ("remember", "-"),
    ):
        fresh = palace.run(*verb, fresh=True)
        assert palace.run(*verb) == fresh, verb
        assert fresh.out or fresh.err, verb
