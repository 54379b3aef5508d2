"""What is unsure hides nothing: equals in question both stay, templated lines and documents are never replaced."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_rig import DAY_MS, START_MS, HandClock, Rig, rig_at
from real_models import real_embedder, real_readers

from core.types.lifecycle import JobState, JobType
from core.types.values import Kind, Source, When

OVER = [
    ("The ford below Nerlund is closed, the water is high.", "The ford below Nerlund is open again."),
    ("The lift in the east wing is broken.", "The lift in the east wing works again."),
    ("The sauna is broken.", "Sauna repaired, works fine."),
]


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path, clock=HandClock(START_MS), embedder=real_embedder(), readers=real_readers()) as rig:
        yield rig


def status(rig: Rig, memory_id: str) -> str:
    return str(rig.value("SELECT status FROM memories WHERE id = ?", memory_id))


@pytest.mark.parametrize(("before", "after"), OVER)
@pytest.mark.parametrize("source", [Source.DOCUMENT, Source.TOOL_OUTPUT, Source.USER_IMPLICIT])
def test_a_later_word_of_an_equal_speaks_however_often_the_earlier_was_confirmed(
    rig: Rig, before: str, after: str, source: Source
) -> None:
    old = rig.store(before, source=source, occurred=When(START_MS)).memory_id
    for name in ("aster", "borage"):
        client = rig.client(name, "read", "write", "space:home")
        assert rig.store(before, client, source=Source.DOCUMENT, space="home").deduplicated
    new = rig.store(after, source=source, occurred=When(START_MS + DAY_MS)).memory_id
    assert status(rig, new) == "active"
    assert status(rig, old) in ("active", "superseded", "disputed")
    result = rig.recall(before.rstrip("."), limit=10)
    found = [item.memory.id for item in result.items]
    assert new in found
    assert old in found or old in {miss.id for miss in result.near_misses}


TEMPLATES = [
    "The word number {n} of the list is spoken in the town 7{n}.",
    "Server web-{n} runs version 3.{m}.",
    "Room {n} is reserved for team {m}.",
    "Sensor {n} reads {m} degrees.",
]


@pytest.mark.slow
@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize("kind", [Kind.FACT, Kind.PROCEDURE])
def test_lines_that_differ_in_the_number_of_their_subject_all_stand(rig: Rig, template: str, kind: Kind) -> None:
    lines = [template.format(n=n, m=(n * 7) % 40 + 3) for n in range(1, 31)]
    for line in lines:
        rig.store(line, source=Source.DOCUMENT, kind=kind)
    assert Counter(rig.rows("SELECT status FROM memories")) == {("active",): len(lines)}
    assert rig.value("SELECT count(*) FROM conflicts") == 0
    assert rig.engine.jobs.run(JobType.CONSOLIDATE).result(60).state is JobState.DONE
    standing = {str(row[0]) for row in rig.rows("SELECT text FROM memories WHERE status IN ('active', 'consolidated')")}
    assert set(lines) <= standing


def test_another_quantity_of_the_same_still_updates(rig: Rig) -> None:
    old = rig.store("I take 50 mg of Sertraline every morning.").memory_id
    new = rig.store("I take 25 mg of Sertraline every morning.").memory_id
    assert (status(rig, old), status(rig, new)) == ("superseded", "active")


SKILL = """# Formatting release notes

Use this skill when somebody asks for release notes. First collect the merged changes since the last tag and group them
by area: features, fixes, documentation, dependencies. Write one line for each change in the past tense and name the
person who made it. Run `relnote` over the draft to check the width of lines and the spelling of product names. Put
breaking changes at the top with a short guide for the migration. Ask the maintainers to read the draft before the tag
is pushed, and attach the finished text to the release page. Keep the draft under docs/releases with the version as its
file name, so that the site's index picks it up by itself.
"""

REMARKS = [
    "The tool relnote was renamed to notecheck.",
    "relnote is deprecated, we use notecheck now.",
    "We no longer attach the text to the release page.",
    "Release notes are written by Ines this month.",
]


@pytest.mark.parametrize("remark", REMARKS)
@pytest.mark.parametrize("kind", [Kind.FACT, Kind.PROCEDURE, Kind.RULE])
def test_a_remark_about_a_line_of_a_document_does_not_replace_it(rig: Rig, remark: str, kind: Kind) -> None:
    document = rig.store(SKILL, kind=kind, source=Source.DOCUMENT).memory_id
    said = rig.store(remark, kind=kind, source=Source.USER_EXPLICIT).memory_id
    assert (status(rig, document), status(rig, said)) == ("active", "active")
    assert rig.get(document).text == SKILL


ENDED = [
    ("The museum is shut for renovation.", "The museum has reopened its doors."),
    ("The printer on floor 3 is out of order.", "Someone got the floor 3 printer going."),
    ("The heating in the annex is broken.", "The annex is warm: the heating got repaired."),
    ("The kitchen tap drips.", "Nils put the kitchen tap right."),
]


@pytest.mark.parametrize(("before", "after"), ENDED)
def test_what_ends_something_is_no_repeat_of_it(rig: Rig, before: str, after: str) -> None:
    old = rig.store(before)
    new = rig.store(after, occurred=When(START_MS + DAY_MS))
    assert new.operation in ("ADD", "SUPERSEDE")
    assert status(rig, new.memory_id) == "active"
    assert new.memory_id in [item.memory.id for item in rig.recall(before.rstrip("."), limit=10).items]
    assert status(rig, old.memory_id) in ("active", "superseded")


def test_texts_of_other_matters_that_share_numbers_are_no_repeats(rig: Rig) -> None:
    rig.store("Player 7 wears size 40.")
    assert not rig.store("Gene G7 lies on chromosome 40.").deduplicated


SHORT_SKILL = (
    "---\nname: deploy-helper\ndescription: How we deploy.\n---\n# Deploy\nRun `make ship` with the tool shipctl. "
    "First set REGION. Then wait for the green light. Finally tell the channel."
)


@pytest.mark.parametrize("remark", ["shipctl is called portctl now.", "Use portctl instead of shipctl."])
@pytest.mark.parametrize("kind", [Kind.FACT, Kind.PROCEDURE, Kind.RULE])
def test_a_remark_replaces_no_short_document_either(rig: Rig, remark: str, kind: Kind) -> None:
    document = rig.store(SHORT_SKILL, kind=kind).memory_id
    said = rig.store(remark, kind=kind).memory_id
    assert (status(rig, document), status(rig, said)) == ("active", "active")
    assert rig.get(document).text == SHORT_SKILL


@pytest.mark.parametrize("source", [None, Source.DOCUMENT, Source.TOOL_OUTPUT])
@pytest.mark.parametrize("by", ["aster", "clover"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("The ferry to Kvam does not sail in winter.", "The Kvam ferry has taken up its winter runs again."),
        ("Marta is on leave.", "Marta is back at her desk."),
        ("The tap water in Rana must be boiled.", "Boiling tap water in Rana is not needed any longer."),
    ],
)
def test_what_others_repeated_is_taken_back_by_an_equal(
    rig: Rig, before: str, after: str, by: str, source: Source | None
) -> None:
    clients = {name: rig.client(name, "read", "write", "space:home") for name in ("aster", "borage", "clover")}
    way = {} if source is None else {"source": source}
    old = rig.store(before, clients["aster"], space="home", **way).memory_id
    assert rig.store(before, clients["borage"], space="home", **way).deduplicated
    said = When(START_MS + DAY_MS)
    new = rig.store(after, clients[by], space="home", occurred=said, **way).memory_id
    assert status(rig, new) == "active"
    found = [item.memory.id for item in rig.recall(before.rstrip("."), limit=10).items]
    assert new in found
    assert old not in found or found.index(new) < found.index(old)


def test_of_what_is_over_with_a_thing_that_is_gone_nothing_else_ends(rig: Rig) -> None:
    told = [rig.store(text) for text in ("I ride a red Vespa on my rounds.", "The Vespa is insured with Kestrel.")]
    others = [rig.store(text) for text in ("My brother rides a Vespa.", "The garage is let to Kestrel.")]
    rig.store("Traded in the Vespa, it's an electric Zundapp now.")
    assert [status(rig, one.memory_id) for one in told].count("superseded") <= 1
    assert [status(rig, one.memory_id) for one in others] == ["active", "active"]


def test_what_may_be_leaves_what_is(rig: Rig) -> None:
    told = rig.store("The fair ends on 28 September.")
    rig.store("The council may extend the fair to the 12th of October.")
    assert status(rig, told.memory_id) == "active"
