"""The options of recall that a person may turn, each with its bounds and its measured default.

Names follow the fields of `core.score.profile.Profile`, a dot being an underscore; a test holds the defaults
of both together. They are keys of the vault's `settings`, after `PREFIX`. Must not do: rank, or know what a preset
is.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from core.config.option_rows import field_extra

PREFIX = "recall."
"""Before the name of an option in the vault's `settings`."""

_RELEVANCE, _SIDES, _WORDS = "Relevance", "Side signals", "Words and meaning"
_DIVERSITY, _NEIGHBOURS, _SILENCE = "Diversity", "Neighbours", "Silence"
_CANDIDATES, _HEALTH, _CONTEXTS = "Candidates", "Health", "What a model is given"
_RERANK = {
    "rrf_then_mmr": "Fused lists, then variety",
    "rrf": "Fused lists alone",
    "mmr": "Evidence, then variety",
}


def _knob_field(default: float, least: float, most: float, title: str, words: str, group: str, unit: str = "") -> Any:
    told = field_extra(group, unit=unit)
    return Field(default=default, ge=least, le=most, title=title, description=words, json_schema_extra=told)


class RetrievalOptions(BaseModel):
    """All options of recall with their defaults; frozen, replaced as a whole when one changes."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    strength: float = _knob_field(
        0.75,
        0.0,
        1.0,
        "Evidence in the relevance",
        "Share of the evidence itself; the rest is the fused rank.",
        _RELEVANCE,
    )
    rrf_k: float = _knob_field(
        60.0, 1.0, 1000.0, "Rank constant", "The smaller, the more the first places of a list count.", _RELEVANCE
    )
    lists_evidence: float = _knob_field(
        2.0, 0.0, 10.0, "List: evidence", "Weight of meaning and words added up.", _RELEVANCE
    )
    lists_window: float = _knob_field(
        0.5,
        0.0,
        10.0,
        "List: meaning in its surroundings",
        "Weight of likeness with neighbours counted in.",
        _RELEVANCE,
    )
    lists_coverage: float = _knob_field(
        0.5, 0.0, 10.0, "List: shared words", "Weight of the share of the question's words.", _RELEVANCE
    )
    lists_bm25: float = _knob_field(0.2, 0.0, 10.0, "List: BM25", "Weight of the full-text rank.", _RELEVANCE)
    lists_vector: float = _knob_field(
        0.1, 0.0, 10.0, "List: own meaning", "Weight of the memory's own likeness.", _RELEVANCE
    )
    lists_time: float = _knob_field(
        0.15, 0.0, 10.0, "List: time", "Weight of nearness to the days that are asked about.", _RELEVANCE
    )
    lists_graph: float = _knob_field(
        0.15, 0.0, 10.0, "List: relations", "Weight of what is reached over relations.", _RELEVANCE
    )
    time_bonus: float = _knob_field(
        0.5, 0.0, 3.0, "Days that are asked about", "So much more evidence has what stands in them.", _RELEVANCE
    )
    graph_worth: float = _knob_field(
        1.4, 0.0, 3.0, "Worth of a relation", "What a full activation over relations counts as evidence.", _RELEVANCE
    )

    side_bound: float = _knob_field(
        0.05, 0.0, 0.5, "Room for side signals", "The most that all of them together raise or lower a result.", _SIDES
    )
    sides_confidence: float = _knob_field(0.4, 0.0, 1.0, "Confidence", "Share of how far a memory is believed.", _SIDES)
    sides_recency: float = _knob_field(0.2, 0.0, 1.0, "Recency", "Share of how new it is.", _SIDES)
    sides_importance: float = _knob_field(0.2, 0.0, 1.0, "Importance", "Share of how important it is.", _SIDES)
    sides_utility: float = _knob_field(0.2, 0.0, 1.0, "Utility", "Share of how useful it proved.", _SIDES)
    recency_half_life_days: float = _knob_field(
        30.0, 0.5, 3650.0, "Half-life of recency", "After so many days recency is one half.", _SIDES, "days"
    )

    asking: float = _knob_field(
        0.15, 0.0, 1.0, "Only asks", "What a message that only asks loses; it seldom holds the answer.", _WORDS
    )
    saying: float = _knob_field(0.05, 0.0, 0.5, "Says more", "What a longer message gains.", _WORDS)
    text_weight: float = _knob_field(
        0.45, 0.0, 1.0, "Words against meaning", "0 counts meaning alone, 1 words alone.", _WORDS
    )
    auto_text_weight: bool = Field(
        default=True,
        title="Let the question decide",
        description="Questions with names, paths or numbers count words more; open ones count meaning more.",
        json_schema_extra=field_extra(_WORDS),
    )
    cosine_weight: float = _knob_field(
        1.4, 0.1, 5.0, "Worth of meaning", "What full likeness is worth beside all words of the question.", _WORDS
    )

    rerank: Literal["rrf_then_mmr", "rrf", "mmr"] = Field(
        default="rrf_then_mmr",
        title="Order",
        description="How the lists become one order.",
        json_schema_extra=field_extra(_DIVERSITY, choices=_RERANK),
    )
    alike_from: float = _knob_field(
        0.9, 0.0, 0.99, "Repetition from", "Likeness from which two results count as repetition.", _DIVERSITY
    )
    trades_lookup: float = _knob_field(
        0.9, 0.0, 1.0, "Look-up", "1 looks at relevance alone, 0 puts repetitions last.", _DIVERSITY
    )
    trades_exploratory: float = _knob_field(
        0.7, 0.0, 1.0, "Exploring", "1 looks at relevance alone, 0 puts repetitions last.", _DIVERSITY
    )
    trades_comparative: float = _knob_field(
        0.8, 0.0, 1.0, "Comparing", "1 looks at relevance alone, 0 puts repetitions last.", _DIVERSITY
    )
    trades_temporal: float = _knob_field(
        0.9, 0.0, 1.0, "Time", "1 looks at relevance alone, 0 puts repetitions last.", _DIVERSITY
    )
    trades_procedural: float = _knob_field(
        0.9, 0.0, 1.0, "How-to", "1 looks at relevance alone, 0 puts repetitions last.", _DIVERSITY
    )
    trades_causal: float = _knob_field(
        0.9, 0.0, 1.0, "Cause", "1 looks at relevance alone, 0 puts repetitions last.", _DIVERSITY
    )

    window_cosine_1: float = _knob_field(
        0.3, 0.0, 1.0, "Meaning next to it", "Weight of the message before and after.", _NEIGHBOURS
    )
    window_cosine_2: float = _knob_field(
        0.15, 0.0, 1.0, "Meaning two away", "Weight of the messages two places away.", _NEIGHBOURS
    )
    window_terms_1: float = _knob_field(
        0.75, 0.0, 1.0, "Words next to it", "What a word of the question is worth one message away.", _NEIGHBOURS
    )
    window_terms_2: float = _knob_field(
        0.5, 0.0, 1.0, "Words two away", "What a word of the question is worth two messages away.", _NEIGHBOURS
    )
    expand_from: int = _knob_field(
        6,
        0,
        100,
        "Neighbours of the best",
        "The neighbours of so many of the best are looked at too.",
        _NEIGHBOURS,
        "memories",
    )

    least_chance: float = _knob_field(
        0.6,
        0.0,
        1.0,
        "Chance of an answer",
        "Under this chance that anything answers, nothing is shown; for words and meaning together.",
        _SILENCE,
    )
    bar_base: float = _knob_field(
        0.19, 0.0, 3.0, "Bar for meaning alone", "What the best must have in a vault of one memory.", _SILENCE
    )
    bar_slope: float = _knob_field(
        0.048, 0.0, 0.5, "Rise of the bar", "How it rises with the logarithm of the number of memories.", _SILENCE
    )
    bar_cap: float = _knob_field(0.46, 0.0, 3.0, "Highest bar", "Where it stops rising.", _SILENCE)
    keyword_bar: float = _knob_field(
        0.2,
        0.0,
        1.0,
        "Bar for words alone",
        "The share of words an answer must have where meaning is not compared.",
        _SILENCE,
    )
    floor: float = _knob_field(
        0.25, 0.0, 1.0, "Floor", "What has less than this share of the best result's evidence is left out.", _SILENCE
    )
    near_misses: int = _knob_field(5, 0, 50, "Near misses", "So many are kept in the receipt.", _SILENCE, "memories")

    focus_words: float = _knob_field(
        0.75,
        0.0,
        1.0,
        "Words of a clear first hit",
        "The share of the question's words that it must have; behind a clear first hit little else is handed over.",
        _CONTEXTS,
    )
    focus_evidence: float = _knob_field(
        0.65, 0.0, 1.0, "Evidence of a clear first hit", "The share of the greatest evidence there can be.", _CONTEXTS
    )
    focus_near: float = _knob_field(
        0.75, 0.0, 1.0, "Rival from", "What has this share of the best evidence is its rival.", _CONTEXTS
    )
    focus_rivals: int = _knob_field(
        3, 1, 100, "Rivals of a clear first hit", "There may be so many, itself counted.", _CONTEXTS, "memories"
    )
    focus_clear: float = _knob_field(
        0.7,
        0.0,
        1.0,
        "Beside a clear first hit",
        "What has less than this share of the best evidence stays out.",
        _CONTEXTS,
    )
    focus_weak: float = _knob_field(
        0.5,
        0.0,
        1.0,
        "Behind a weak first hit",
        "What has less than this share stays out; the same where several things are asked for.",
        _CONTEXTS,
    )
    focus_strong: float = _knob_field(
        0.6,
        0.0,
        1.0,
        "Behind a strong first hit",
        "The same where the first is strong, but not clear.",
        _CONTEXTS,
    )
    focus_kept: int = _knob_field(
        5, 1, 200, "Always handed over", "So many stay where the first hit is not clear.", _CONTEXTS, "memories"
    )

    vector_candidates: int = _knob_field(
        30, 1, 1000, "By meaning", "So many candidates come from likeness.", _CANDIDATES, "memories"
    )
    bm25_candidates: int = _knob_field(
        20, 1, 1000, "By full text", "So many candidates come from the full-text rank.", _CANDIDATES, "memories"
    )
    coverage_candidates: int = _knob_field(
        40, 1, 1000, "By shared words", "So many candidates come from shared words.", _CANDIDATES, "memories"
    )
    bm25_budget: int = _knob_field(
        2_000,
        100,
        1_000_000,
        "Full-text rows",
        "The full-text rank scores about so many rows at most.",
        _CANDIDATES,
        "rows",
    )
    posting_budget: int = _knob_field(
        60_000,
        1_000,
        10_000_000,
        "Word entries",
        "Shared words read about so many entries at most.",
        _CANDIDATES,
        "entries",
    )
    least_documents: int = _knob_field(
        100,
        1,
        100_000,
        "Least memories",
        "Words are weighed as if there were at least so many memories.",
        _CANDIDATES,
        "memories",
    )
    small_scope: int = _knob_field(
        20_000,
        1,
        10_000_000,
        "Exact up to",
        "Up to so many memories in reach every one is compared.",
        _CANDIDATES,
        "memories",
    )

    health_window: int = _knob_field(
        50,
        5,
        1000,
        "Recalls looked at",
        "The health of recall is that of the last so many answers.",
        _HEALTH,
        "recalls",
    )
    health_low: float = _knob_field(
        0.4, 0.0, 1.0, "Warn below", "Mean relevancy of the last answers below which there is a warning.", _HEALTH
    )
    health_poor: float = _knob_field(
        0.3, 0.0, 1.0, "Poor answer below", "Ten answers in a row below it say that the embedder may not fit.", _HEALTH
    )
