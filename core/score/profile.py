"""Every number of recall in one frozen object, each with its source or its measurement, and the options for them.

"dev" means the three development conversations of LoCoMo (495 questions with evidence, 1,451 turns, one space each),
measured with `tests/bench/bench_locomo.py`; figures are session recall@10 / turn recall@10. As it stands: 95.6 / 84.8.
The figures of single weights were taken when they were chosen, some before others were added (95.4 / 83.4 then); what
each stage is worth now is told by `--ablation`. The weights were chosen with dev in view, so these figures flatter
them. A number of a profile has a dotted name (`sides.recency`, `window_terms.2`); the option of it has underscores
instead. Must not do: rank, or read a vault.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from core.config.retrieval import RetrievalOptions


@dataclass(frozen=True, slots=True)
class ListWeights:
    """Weights of the ranked lists in the fusion. A list that does not exist in a mode weighs nothing.

    Attributes:
        vector: cosine of the memory itself.
        bm25: BM25 of the full-text table.
        window: cosine of the memory with its neighbours in the conversation.
        coverage: share of the query's words that stand in or around the memory.
        evidence: window cosine and coverage added up, time and graph included.
        time: nearness to the time that is asked about (E39.4).
        graph: activation over links (E5.1).
    """

    vector: float
    bm25: float
    window: float
    coverage: float
    evidence: float
    time: float = 0.15
    graph: float = 0.15


@dataclass(frozen=True, slots=True)
class SideWeights:
    """How the bounded side signals share the room they have.

    Attributes:
        confidence: how far it is believed, 0 to 1.
        recency: how new it is, 0 to 1.
        importance: 0 to 1.
        utility: how useful it proved, 0 to 1.
    """

    confidence: float
    recency: float
    importance: float
    utility: float

    @property
    def total(self) -> float:
        """Their sum."""
        return self.confidence + self.recency + self.importance + self.utility


@dataclass(frozen=True, slots=True)
class Trades:
    """Lambda of maximal marginal relevance by intent: 1 looks at relevance alone, 0 puts repetition last (E35.1).

    Attributes:
        lookup: one stored value.
        exploratory: an overview: what repeats tells nothing new.
        comparative: things weighed against each other.
        temporal: what happened in a period.
        procedural: how something is done.
        causal: reasons.
    """

    lookup: float = 0.9
    exploratory: float = 0.7
    comparative: float = 0.8
    temporal: float = 0.9
    procedural: float = 0.9
    causal: float = 0.9


@dataclass(frozen=True, slots=True)
class Focus:
    """How much of an answer a context keeps beside its first hit (`focus`); a search shows all of it.

    Measured with `tests/bench/bench_context.py` at 3,000 tokens. Questions on the sample that one fact answers: 27.6
    memories a context without it, 8.2 with it, and the answer in 95 % of them instead of 85 %: what is weak no longer
    takes the room of a longer text that answers. dev: 33 memories and 22, evidence in full 59 % and 74 %, where it lies
    in several turns 42 % and 46 %. With `weak` 0.4 and `strong` 0.5: 11.3 memories in the sample, 68 % on dev.

    Attributes:
        words: share of the question's words, by weight, that a clear first has itself.
        evidence: share of the greatest evidence there can be that it has.
        near: share of the best evidence from which another is its rival.
        rivals: how many there may be, itself counted.
        clear: share of the best evidence that stays beside a clear first.
        weak: share that stays behind a first that is not clear, and weak, or where several things are asked for.
        strong: the same where the first is as strong as a clear one.
        kept: how many stay behind a first that is not clear, whatever their share.
    """

    words: float = 0.75
    evidence: float = 0.65
    near: float = 0.75
    rivals: int = 3
    clear: float = 0.7
    weak: float = 0.5
    strong: float = 0.6
    kept: int = 5


@dataclass(frozen=True, slots=True)
class Profile:
    """The weights and thresholds of one way to rank.

    Attributes:
        name: shown in receipts.
        rrf_k: Cormack's constant of reciprocal rank fusion (E9.2.2); dev does not change from 20 to 200.
        lists: weights of the lists; dev with vector and bm25 alone, and no neighbours anywhere: 94.5 / 60.5.
        strength: share of the evidence itself in the relevance; the rest is the fused rank. dev with 0: 95.5 / 82.3,
            with 1: 95.4 / 83.7.
        cosine_weight: what a cosine of 1 is worth beside a full coverage of 1.
        window_cosine: weights of neighbours at distance 1 and 2 in the window vector; dev without: 94.4 / 80.7.
        window_terms: what a query word is worth that stands at distance 1 and 2 rather than in the memory itself; dev
            without: 95.4 / 75.1, without any neighbours: 95.1 / 71.6.
        sides: shares of the side signals.
        side_bound: the most that all side signals together raise or lower a relevance.
        recency_half_life_days: after so many days recency is one half.
        vector_candidates: how many the vector list brings; with twice as many of each list dev stays as it is.
        bm25_candidates: how many the BM25 list brings.
        coverage_candidates: how many the coverage list brings.
        expand_from: from so many of the best candidates the neighbours become candidates too; dev with 0: 95.4 / 81.5.
        bm25_budget: BM25 scores about so many rows at most: the rarest terms whose document frequencies add up to it.
        posting_budget: coverage reads about so many entries at most, rarest terms first.
        least_documents: words are weighed as if there were at least so many memories; a few tell nothing about how
            common a word is.
        small_scope: up to so many memories in scope are searched exactly, by their labels.
        least_chance: what the chance of an answer (`core.score.ranking`) must reach; under it the answer
        is empty.
        bar_base: the evidence that an answer by meaning alone must have in a vault of one memory.
        bar_slope: how that rises with the natural logarithm of the number of memories in scope.
        bar_cap: where it stops rising.
        keyword_bar: the coverage an answer must have where there is no vector to compare.
        floor: an item under this share of the best item's evidence is not returned; dev sessions suffer from 0.4 on.
        near_misses: how many near misses are kept.
        asking: evidence that a message loses which only asks.
        saying: evidence that a message gains for each factor e of its size.
        time_bonus: what stands in the days that are asked about has so much more evidence, as a share of its own.
        graph_worth: what an activation of 1 is worth as evidence.
        trades: lambda of maximal marginal relevance by intent.
        alike_from: the cosine from which two memories count as repetition.
        rerank: `rrf` (fused alone), `mmr` (evidence alone, then maximal marginal relevance) or `rrf_then_mmr` (E35.1).
        text_weight: how much words count against meaning. At one half, turn recall@10 is 68.6 on the conversations
            written for Loci and 85.1 on dev; at 0.45 it is 69.4 and 85.4, at 0.4 70.6 and 84.8.
        auto_text_weight: whether the question moves it (E35.3).
        focus: how much of an answer a context keeps.
    """

    name: str = "loci"
    rrf_k: float = 60.0
    lists: ListWeights = ListWeights(vector=0.1, bm25=0.2, window=0.5, coverage=0.5, evidence=2.0)
    strength: float = 0.75
    cosine_weight: float = 1.4
    window_cosine: tuple[float, float] = (0.3, 0.15)
    window_terms: tuple[float, float] = (0.75, 0.5)
    sides: SideWeights = SideWeights(confidence=0.4, recency=0.2, importance=0.2, utility=0.2)
    side_bound: float = 0.05
    recency_half_life_days: float = 30.0
    vector_candidates: int = 30
    bm25_candidates: int = 20
    coverage_candidates: int = 40
    expand_from: int = 6
    bm25_budget: int = 2_000
    posting_budget: int = 60_000
    least_documents: int = 100
    small_scope: int = 20_000
    least_chance: float = 0.6
    bar_base: float = 0.19
    bar_slope: float = 0.048
    bar_cap: float = 0.46
    keyword_bar: float = 0.2
    floor: float = 0.25
    near_misses: int = 5
    asking: float = 0.15
    saying: float = 0.05
    time_bonus: float = 0.5
    graph_worth: float = 1.4
    trades: Trades = Trades()
    alike_from: float = 0.9
    rerank: str = "rrf_then_mmr"
    text_weight: float = 0.45
    auto_text_weight: bool = True
    focus: Focus = Focus()


LOCI = Profile()
"""The default."""
SEED_A = replace(LOCI, name="seed-a", sides=SideWeights(0.25, 0.2, 0.15, 0.0), recency_half_life_days=69.3)
"""Seed A's side weights 0.25, 0.20, 0.15 beside relevance 0.40; its recency is exp(-0.01 days)."""
SEED_B = replace(LOCI, name="seed-b", sides=SideWeights(0.1, 0.2, 0.3, 0.0), recency_half_life_days=7.0)
"""Seed B's importance 0.3, recency 0.2, effective confidence 0.1 beside relevance 0.4; half-life 7 days."""
ENGRAM = replace(LOCI, name="engram", sides=SideWeights(0.25, 0.2, 0.0, 0.2), recency_half_life_days=30.0)
"""E7.1.2: accuracy 0.25, freshness 0.20, utility 0.20 beside relevance 0.35; half-life 30 days (E18)."""
PRESETS = (LOCI, SEED_A, SEED_B, ENGRAM)
"""All profiles that ship, the default first."""
Value = float | bool | str
MEASURED = "measured"
"""The preset of the defaults."""
OWN = "own"
"""The name of a profile that is no preset's."""
PRESET_WORDS: Mapping[str, str] = MappingProxyType(
    {
        MEASURED: "As measured: what answers best on test conversations",
        "seed-a": "Confidence first, slow to forget",
        "seed-b": "Importance first, fresh things over old",
        "engram": "Believed, fresh and useful things first",
    }
)
"""What each preset is, in words."""
_BY_NAME = {MEASURED if profile is LOCI else profile.name: profile for profile in PRESETS}


def profile_values(profile: Profile) -> dict[str, Value]:
    """Every value of a profile but its name.

    Returns:
        Dotted name to value, in the order of the fields; places of a tuple count from 1.
    """
    found: dict[str, Value] = {}
    for field in fields(profile):
        if field.name != "name":
            found.update(_flatten_values(field.name, getattr(profile, field.name)))
    return found


def option_name(dotted: str) -> str:
    """The option of a profile's value.

    Args:
        dotted: as `profile_values` has it.

    Returns:
        The name in `core.config.retrieval`.
    """
    return dotted.replace(".", "_")


@lru_cache(maxsize=16)
def profile_from_options(options: RetrievalOptions, name: str | None = None) -> Profile:
    """The profile that options say; the last ones are kept: it is a fifth of opening a small vault.

    Args:
        name: for receipts; None for the name of the preset they are, or `OWN`.

    Returns:
        A profile; what is no option is as measured.
    """
    told = options.model_dump()
    changed = replace_values(
        LOCI, {dotted: told[option_name(dotted)] for dotted in profile_values(LOCI) if option_name(dotted) in told}
    )
    if name is None:
        preset = matching_preset(options)
        name = _BY_NAME[preset].name if preset else OWN
    return replace(changed, name=name)


def replace_values(profile: Profile, values: Mapping[str, Value]) -> Profile:
    """A profile with some of its values changed.

    Args:
        values: dotted name to value; names it does not have are passed over.
    """
    new = {
        field.name: _merge_profile_values(field.name, getattr(profile, field.name), values.get)
        for field in fields(profile)
        if field.name != "name"
    }
    return replace(profile, **new)


def preset_values(name: str) -> dict[str, Value]:
    """What the options are under a preset.

    Args:
        name: a key of `PRESET_WORDS`.

    Returns:
        Option to value, for all options that rank.

    Raises:
        KeyError: there is no such preset.
    """
    known = RetrievalOptions.model_fields
    flat = {option_name(dotted): value for dotted, value in profile_values(_BY_NAME[name]).items()}
    return {option: value for option, value in flat.items() if option in known}


def matching_preset(options: RetrievalOptions) -> str:
    """The preset that options are those of.

    Returns:
        Its name; `""` where they are none's.
    """
    told = options.model_dump()
    for name in PRESET_WORDS:
        if all(told[option] == value for option, value in preset_values(name).items()):
            return name
    return ""


def _flatten_values(name: str, value: Any) -> dict[str, Value]:
    if is_dataclass(value):
        return {
            key: one
            for field in fields(value)
            for key, one in _flatten_values(f"{name}.{field.name}", getattr(value, field.name)).items()
        }
    if isinstance(value, tuple):
        return {
            key: one
            for nr, part in enumerate(value, start=1)
            for key, one in _flatten_values(f"{name}.{nr}", part).items()
        }
    return {name: value}


def _merge_profile_values(name: str, value: Any, given: Callable[[str], Value | None]) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        parts = {
            field.name: _merge_profile_values(f"{name}.{field.name}", getattr(value, field.name), given)
            for field in fields(value)
        }
        return replace(value, **parts)
    if isinstance(value, tuple):
        return tuple(_merge_profile_values(f"{name}.{nr}", part, given) for nr, part in enumerate(value, start=1))
    new = given(name)
    return value if new is None else new
