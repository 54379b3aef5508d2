"""The synthetic texts of `loci bench`: the same for the same seed, no two alike, as long as chats are."""

from __future__ import annotations

import json
import re
from collections import Counter
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

import pytest

from app.bench.synthetic import MAX_WORDS, MIN_WORDS, SyntheticWriter, load_bundled_vocabulary, write_jsonl
from core.importers.detect import detect_format
from core.importers.dry_run import import_items
from core.importers.input.source import open_bundle
from core.importers.records import Record
from core.types.values import Kind, Role

BLANKS = {
    "person", "person2", "surname", "place", "place2", "street", "month", "thing", "spice", "adj", "day", "time", "n",
    "n2", "big",
}  # fmt: skip


def test_the_same_seed_gives_the_same_texts() -> None:
    assert list(SyntheticWriter(3).write_messages(200)) == list(SyntheticWriter(3).write_messages(200))
    assert SyntheticWriter(3).write_questions(40, 200) == SyntheticWriter(3).write_questions(40, 200)


def test_a_longer_series_begins_like_a_shorter_one_of_the_same_seed() -> None:
    shorter, longer = list(SyntheticWriter(3).write_messages(150)), list(SyntheticWriter(3).write_messages(400))
    assert longer[:150] == shorter


def test_another_seed_gives_other_texts() -> None:
    first, second = ({m.text for m in SyntheticWriter(seed).write_messages(300)} for seed in (1, 2))
    assert not first & second


def test_texts_are_distinct_and_as_long_as_messages() -> None:
    messages = list(SyntheticWriter(1).write_messages(3000))
    assert len(messages) == len({m.text for m in messages}) == len({m.ref for m in messages}) == 3000
    assert all(MIN_WORDS <= len(m.text.split()) <= MAX_WORDS for m in messages)
    assert not any("{" in m.text or "}" in m.text for m in messages)


def test_messages_come_in_conversations_in_order() -> None:
    messages = list(SyntheticWriter(1).write_messages(500))
    sizes = Counter(m.session for m in messages)
    assert len(sizes) > 20
    assert max(sizes.values()) > 4
    assert {m.author for m in messages} == {"user", "assistant"}
    within = [pair for pair in pairwise(messages) if pair[0].session == pair[1].session]
    assert all(one.at < two.at for one, two in within)
    assert list(dict.fromkeys(m.session for m in messages)) == list(sizes)


def test_questions_are_distinct_and_ask_for_words_of_the_series() -> None:
    questions = SyntheticWriter(1).write_questions(150, 400)
    assert len(questions) == len(set(questions)) == 150
    stored = " ".join(m.text for m in SyntheticWriter(1).write_messages(400)).casefold()
    known = sum(any(word in stored for word in re.findall(r"\w{5,}", q.casefold())) for q in questions)
    assert known > 140


def test_a_vocabulary_that_is_too_small_is_told() -> None:
    small = load_bundled_vocabulary()
    small["topics"] = {"one": {"things": ["a", "b", "c", "d"], "sentences": ["one two three " * 8]}}
    small["general"] = small["assistant"] = ["one two three " * 8]
    with pytest.raises(ValueError, match="too small"):
        list(SyntheticWriter(1, small).write_messages(5))


def test_the_file_is_read_whole_by_the_real_importer(tmp_path: Path) -> None:
    messages = list(SyntheticWriter(1).write_messages(60))
    write_jsonl(tmp_path / "m.jsonl", messages)
    with open_bundle(tmp_path / "m.jsonl") as bundle:
        importer = detect_format(bundle, None)
        items = list(import_items(bundle, importer))
    assert importer.format == "jsonl"
    records = [item for item in items if isinstance(item, Record)]
    assert len(records) == len(items) == 60
    for message, record in zip(messages, records, strict=True):
        assert (record.text, record.ref, record.session) == (message.text, message.ref, message.session)
        assert record.occurred is not None
        assert record.occurred.ms == int(message.at.timestamp() * 1000)
        assert record.kind is Kind.EPISODE
        assert record.role is (Role.USER if message.author == "user" else Role.ASSISTANT)


def test_the_vocabulary_is_data_with_known_blanks() -> None:
    raw = files("resources").joinpath("bench").joinpath("vocabulary.json").read_text(encoding="utf-8")
    words = json.loads(raw)
    sentences = [s for topic in words["topics"].values() for s in topic["sentences"]]
    templates = [*sentences, *words["general"], *words["assistant"], *words["questions"]]
    assert len(sentences) >= 200
    assert len(set(templates)) == len(templates)
    assert {blank for template in templates for blank in re.findall(r"\{(\w+)\}", template)} == BLANKS
    assert all(len(topic["things"]) >= 4 for topic in words["topics"].values())
    assert "@" not in raw
    assert "://" not in raw
