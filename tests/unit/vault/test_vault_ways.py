"""What is asked of some memories begins at them, and does not walk through all that have a status.

SQLite knows nothing of how many those are, and takes the index of the status for a short way: in a vault of years it
leads through most of it, for each memory once. A plus before the column keeps it out.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator

import pytest
from engine_rig import Rig, rig_at

import core
from core.errors import LociError
from core.recall.browse import import_findings
from core.recall.browse.entity_links import _SPEAKERS
from core.vault.memory_sql import _NAMINGS

WALKS = "ix_memories_reach (status=?)"
_WHOLE = "a job that goes through the vault, once a run"
_ONCE = "asked once, of all that stand"
_LEFT_OUT = "asked once, of what was deleted"
ALLOWED = {
    "core.belief.review.open_questions._ALL": _ONCE,
    "core.intake.revise.revision._WHOLE": "a person's deed; parts have no other way",
    "core.lifecycle.distill.model_queue._COUNT": _WHOLE,
    "core.lifecycle.distill.model_queue._FIRST": _WHOLE,
    "core.lifecycle.enrich._UNASKED": _WHOLE,
    "core.lifecycle.archive._DUE": _WHOLE,
    "core.lifecycle.consolidate.consolidate._LEFT": _WHOLE,
    "core.lifecycle.replay._WEAK": _WHOLE,
    "core.lifecycle.retention._OVER": _WHOLE,
    "core.lifecycle.distill.distill._WAITING": _WHOLE,
    "core.lifecycle.gauges._EPISODES": _ONCE,
    "core.lifecycle.gauges._RULES": _ONCE,
    "core.recall.context._LENGTH": _ONCE,
    "core.recall.browse.graph._ALL_SHOWN": _ONCE,
    "core.recall.browse.whole_graph._SHOWN_NODES": _ONCE,
    "core.recall.browse.entity_links._SPEAKERS": _LEFT_OUT,
    "core.recall.browse.import_findings._COUNTS": _LEFT_OUT,
    "core.vault.memory_sql._NAMINGS": _LEFT_OUT,
}


def questions() -> Iterator[tuple[str, str]]:
    """Constants of the product that are whole questions, with their names."""
    for found in pkgutil.walk_packages(core.__path__, "core."):
        module = importlib.import_module(found.name)
        for name, value in vars(module).items():
            if isinstance(value, str) and re.match(r"\s*(SELECT|WITH)\b", value) and "{" not in value:
                yield f"{found.name}.{name}", value


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    with rig_at(tmp_path_factory.mktemp("ways")) as made:
        made.store("The boat is moored in Kappeln.")
        yield made


def steps_of(rig: Rig, sql: str) -> list[str]:
    names = set(re.findall(r":([a-z_]+)", sql))
    params = dict.fromkeys(names, "[]") if names else ("[]",) * sql.count("?")
    plan = rig.opened.storage.vault.read(lambda rows: rows.all("EXPLAIN QUERY PLAN " + sql, params))
    return [str(row[3]) for row in plan]


def test_no_question_about_some_walks_through_a_status(rig: Rig) -> None:
    walking, explained = set(), 0
    for name, sql in questions():
        try:
            steps = steps_of(rig, sql)
        except LociError:
            continue  # a part of which questions are made
        explained += 1
        if any(WALKS in step for step in steps) and any("json_each" in one or "autoindex" in one for one in steps):
            walking.add(name)
    assert explained > 200
    assert sorted(walking - ALLOWED.keys()) == []
    assert sorted(ALLOWED.keys() - walking) == [], "no longer needed"


def test_the_check_sees(rig: Rig) -> None:
    sql = (
        "SELECT b.id FROM memories b JOIN memories d ON d.id = b.consolidated_into "
        "WHERE d.id = ? AND b.status = 'active'"
    )
    assert any(WALKS in step for step in steps_of(rig, sql))
    assert not any(WALKS in step for step in steps_of(rig, sql.replace("b.status", "+b.status")))


@pytest.mark.parametrize("sql", [_NAMINGS, _SPEAKERS], ids=["named", "speakers"])
def test_mentions_are_counted_without_reading_a_memory(rig: Rig, sql: str) -> None:
    """Of memories only what was deleted is looked up; else each mention would cost a page of the vault."""
    steps = [step for step in steps_of(rig, sql) if WALKS not in step]
    read = [step for step in steps if "ix_" in step or "autoindex" in step or "memories" in step or "mentions" in step]
    assert any("mentions" in step for step in read)
    assert [step for step in read if "COVERING" not in step] == []


@pytest.mark.parametrize("sql", [import_findings._NAMES, import_findings._COUNTS], ids=["names", "counts"])
def test_what_imports_brought_is_read_once_for_each_question(rig: Rig, sql: str) -> None:
    read = [step for step in steps_of(rig, sql) if "ix_memories_import" in step]
    assert len(read) == 1
    assert "COVERING" in read[0]
