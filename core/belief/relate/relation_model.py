"""How a candidate relates to stored memories: runs the shipped relation model, with what rules know for certain.

The same model says how well a memory answers a question, which then stands where the newcomer would. Two threads take
the pairs of a call in turn, the caller's and the session's own: two threads inside one pair wait for each other at
every layer, so a pair for each takes half the time. Every pair is still run alone, so its answer does not depend on the
others. Must not do: act on what it says (`core.intake` and `core.recall` do), know the vault, fetch anything, keep
texts, start a thread, or import the runtime before the first pair.
"""

from __future__ import annotations

import hashlib
import json
import math
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from importlib.resources import files
from importlib.resources.abc import Traversable
from queue import SimpleQueue
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.belief.relate.distinctions import are_in_series, has_contradiction
from core.belief.relate.features import FIGURES, PreparedText, encode_pair, load_vocabulary, prepare_text
from core.embed.embedder import PLACE, ModelFiles, SharedEncoder, runtime_faults
from core.errors import Code, EnvironmentFaultError, LociError
from core.text.terms import fold_case, fold_width
from core.types.belief import ACTED_ON, BY_MEANING, LABELS, ComparedText, Label, Relation

Feed = Mapping[str, Any]
"""Arrays by the name of the model's input."""
_LONG = 400
"""About as many characters of a side as fill the tokens that are read of it."""
_SHIPPED = ("model.onnx", "words.json")
IDENTICAL = "identical"
NUMBER_CHANGED = "number_changed"
DATE_CHANGED = "date_changed"
NAME_CHANGED = "name_changed"
VALUE_CHANGED = "value_changed"
NEGATED = "negated"
NUMBERED = "numbered"
CLAIMS_AT_ODDS = "claims_at_odds"
REASONS = (
    IDENTICAL,
    NUMBERED,
    NUMBER_CHANGED,
    DATE_CHANGED,
    NAME_CHANGED,
    VALUE_CHANGED,
    NEGATED,
    CLAIMS_AT_ODDS,
    BY_MEANING,
)
"""Every reason a relation may carry; keys of `resources/help/review.json`."""


class PairQueue:
    """The inputs of one call of the relation model, each run once."""

    def __init__(self, session: Any, output: str, feeds: Sequence[Callable[[], Feed]]) -> None:
        """Take the inputs.

        Args:
            session: the runtime's session, with a thread of its own besides the caller's.
            output: which of the model's outputs is wanted.
            feeds: make the inputs, each called once, in either thread.
        """
        self._session = session
        self._outputs = [output]
        self._feeds = feeds
        self._todo = deque(range(len(feeds)))
        self._found: list[Any] = [None] * len(feeds)
        self._held: list[Any] = [None] * len(feeds)  # inputs that the session's thread reads
        self._fault: Exception | None = None
        self._ended: SimpleQueue[None] = SimpleQueue()

    def run(self) -> list[Any]:
        """Run all of them, in their order where one thread would do it.

        Returns:
            The output of each; None for one that the session's thread could not run.

        Raises:
            Exception: what the session or an input raised, after the other thread has ended.
        """
        self._send_next_pair()
        try:
            while (nr := self._take_next_number()) is not None:
                self._found[nr] = self._session.run(self._outputs, dict(self._feeds[nr]()))[0]
        finally:
            self._todo.clear()
            self._ended.get()
        if self._fault is not None:
            raise self._fault
        return self._found

    def _take_next_number(self) -> int | None:
        try:
            return self._todo.popleft()
        except IndexError:
            return None

    def _send_next_pair(self) -> None:
        """Give the session's thread the next one, or end its part."""
        nr = self._take_next_number()
        try:
            if nr is not None:
                self._held[nr] = dict(self._feeds[nr]())
                self._session.run_async(self._outputs, self._held[nr], self._receive_result, nr)
                return
        except Exception as error:  # noqa: BLE001 - raised again in the caller's thread
            self._todo.clear()
            self._fault = error
        self._ended.put(None)

    def _receive_result(self, found: Sequence[Any], nr: int, error: str) -> None:
        """Called by the session's thread; what it raised would be lost."""
        try:
            self._found[nr] = None if error else found[0]
        except Exception as fault:  # noqa: BLE001 - raised again in the caller's thread, which waits for this one
            self._fault = fault
            self._todo.clear()
        self._send_next_pair()


@dataclass(frozen=True, slots=True)
class ModelCard:
    """What the manifest of the relation model says.

    Attributes:
        version: 16 hex digits over every file a result depends on.
        temperature: what the logits are divided by.
        sure_at: by the label that wins, the share from which it may be acted on, 0.5 to 1.
        answers_from: log odds from which a memory surely answers a question.
        shared: where the word vectors lie in the embedder's file.
        digests: SHA-256 by file name, for both folders.
    """

    version: str
    temperature: float
    sure_at: Mapping[Label, float]
    answers_from: float
    shared: Mapping[str, Any]
    digests: Mapping[str, str]


class Runtime:
    """The loaded model. Several threads may use it at once.

    Each pair is run by itself: dynamic int8 scales its activations over the whole batch, so a neighbour or padding
    would change the answer, and batches are not faster (stack facts, section 10).
    """

    def __init__(self, folder: Traversable, *, threads: int, beside: Runtime | None = None) -> None:
        """Load and check every file.

        Args:
            folder: the relation model's folder.
            threads: processor threads, at least 1; with 2 or more, two pairs are run side by side.
            beside: the same model, already loaded: its words and its tokenizer are not held twice.

        Raises:
            EnvironmentFaultError: E3001 if a file is missing, is not the one the manifest names, or cannot be loaded.
        """
        model = _model_files(folder)
        self.card: ModelCard = read_card(folder) if beside is None else beside.card
        self.encoder: SharedEncoder = _load_encoder(model, self.card) if beside is None else beside.encoder
        self._threads = max(1, threads)
        self._session = model.open_session("model.onnx", self.card.digests["model.onnx"], self._threads)

    def logits(self, pairs: Sequence[tuple[PreparedText, PreparedText]]) -> list[NDArray[np.float64]]:
        """What the model says of each pair.

        Args:
            pairs: what stands, and what is new.

        Returns:
            One row a pair, shape (4,), in the order of LABELS, finite.

        Raises:
            LociError: E3002 if the model gave nothing usable.
        """
        return self._run_pairs(pairs, "logits", len(LABELS))

    def answer_logits(self, question: PreparedText, texts: Sequence[PreparedText]) -> list[float]:
        """How well each text answers a question.

        Returns:
            One finite log odds a text, in order.

        Raises:
            LociError: E3002 if the model gave nothing usable.
        """
        return [float(row[0]) for row in self._run_pairs([(text, question) for text in texts], "answers", 1)]

    def _run_pairs(
        self, pairs: Sequence[tuple[PreparedText, PreparedText]], output: str, width: int
    ) -> list[NDArray[np.float64]]:
        tokens = _Tokens(self.encoder)
        # The longest first: whichever thread takes the last one does not keep the other waiting for long.
        order = sorted(range(len(pairs)), key=lambda nr: -sum(min(len(side.text), _LONG) for side in pairs[nr]))
        feeds = [partial(self._model_inputs, tokens, *pairs[nr]) for nr in order]
        try:
            if self._threads > 1 and len(feeds) > 1:
                found = PairQueue(self._session, output, feeds).run()
            else:
                found = [self._session.run([output], feed())[0] for feed in feeds]
        except runtime_faults() as error:
            raise LociError(Code.EMBEDDING_FAILED, "The model that compares memories failed on a pair.") from error
        if any(out is None or out.shape != (1, width) or not np.isfinite(out).all() for out in found):
            raise LociError(Code.EMBEDDING_FAILED, "The model that compares memories gave no usable answer.")
        rows = dict(zip(order, found, strict=True))
        return [np.asarray(rows[nr][0], np.float64) for nr in range(len(pairs))]

    def _model_inputs(self, tokens: _Tokens, existing: PreparedText, incoming: PreparedText) -> dict[str, NDArray[Any]]:
        row = encode_pair(tokens, existing, incoming)
        words = self.encoder.vectors(row.ids)
        return {"words": words[None], "kinds": row.kinds[None], "figures": row.figures.reshape(1, FIGURES)}


class RelationModel:
    """Classifies pairs of memories; loads its files when the first pair comes.

    A pair's answer depends on its two texts and their claims alone: never on the other pairs of a call, their order
    or the calling thread. Reads 64 tokens of each side: of a longer text
    those where most words of the other side are, within its first 3,000 characters.
    """

    def __init__(self, folder: Traversable | None = None, *, threads: int = 2) -> None:
        """Make one; nothing is read yet.

        Args:
            folder: the folder with manifest.json, model.onnx and words.json; None for the bundled one.
            threads: processor threads, at least 1; with 2 or more, two pairs are run side by side.
        """
        self._folder = relation_folder() if folder is None else folder
        self._load: Callable[[], Runtime] = partial(Runtime, self._folder, threads=threads)
        self._lock = threading.Lock()  # guards _runtime; that of `alone` is taken before its model's, never after
        self._runtime: Runtime | None = None

    @property
    def card(self) -> ModelCard:
        """What the manifest says; `card.version` changes whenever a pair could get another answer.

        Raises:
            EnvironmentFaultError: E3001 if the manifest is missing or unreadable.
        """
        return read_card(self._folder)

    @cached_property
    def alone(self) -> RelationModel:
        """The same model on the thread of the caller alone, loaded when it is asked: for work that nobody waits for."""
        found = RelationModel(self._folder, threads=1)
        found._load = lambda: Runtime(self._folder, threads=1, beside=self._load_once())
        return found

    def rest(self) -> None:
        """Let go of what `alone` loaded; who is using it goes on, and who asks again loads it again."""
        with suppress(AttributeError):
            del self.alone

    def classify(self, pairs: Sequence[tuple[ComparedText, ComparedText]]) -> tuple[Relation, ...]:
        """Say of each pair how the newcomer relates to what stands.

        Args:
            pairs: (existing, incoming); any texts of any length.

        Returns:
            One relation a pair, in order.

        Raises:
            LociError: E3001 if the model cannot be loaded, E3002 if it gave no usable answer.
        """
        found = [relate_by_rule(existing, incoming) for existing, incoming in pairs]
        asked = [pair for pair, relation in zip(pairs, found, strict=True) if relation is None]
        if not asked:
            return tuple(relation for relation in found if relation is not None)
        runtime = self._load_once()
        # A newcomer is usually compared with several memories: each text is made ready once.
        sides = {text: prepare_text(text) for text in dict.fromkeys(side.text for pair in asked for side in pair)}
        rows = iter(runtime.logits([(sides[existing.text], sides[incoming.text]) for existing, incoming in asked]))
        return tuple(
            relation if relation is not None else _by_model(runtime.card, next(rows), pair, sides)
            for relation, pair in zip(found, pairs, strict=True)
        )

    def weigh_answers(self, question: str, texts: Sequence[str]) -> tuple[float, ...]:
        """How well each of some memories answers a question.

        Returns:
            The log odds of each that it answers, in order, less `card.answers_from`: from 0 on it surely does.

        Raises:
            LociError: E3001 if the model cannot be loaded, E3002 if it gave no usable answer.
        """
        runtime = self._load_once()
        found = runtime.answer_logits(prepare_text(question), [prepare_text(text) for text in texts])
        return tuple(each - runtime.card.answers_from for each in found)

    def _load_once(self) -> Runtime:
        with self._lock:
            if self._runtime is None:
                self._runtime = self._load()
            return self._runtime


def relation_folder() -> Traversable:
    """The folder of the relation model that ships with Loci."""
    return files("resources").joinpath("model").joinpath("relations")


def model_unavailable_error(what: str) -> EnvironmentFaultError:
    """The error that the relation model cannot be loaded (E3001)."""
    return _model_files(relation_folder()).unavailable(what)


def _model_files(folder: Traversable) -> ModelFiles:
    return ModelFiles(folder, "model that compares memories")


def _load_encoder(model: ModelFiles, card: ModelCard) -> SharedEncoder:
    model.read("words.json", card.digests["words.json"])
    names = ("model.onnx", "tokenizer.json")
    return SharedEncoder.load(model, card.shared, {name: card.digests[f"minilm/{name}"] for name in names})


def read_card(folder: Traversable) -> ModelCard:
    """Read the manifest of the relation model.

    Args:
        folder: the relation model's folder.

    Raises:
        EnvironmentFaultError: E3001 if it is missing, unreadable or incomplete.
    """
    try:
        data = folder.joinpath("manifest.json").read_bytes()
        manifest = json.loads(data)
        calibration = manifest["calibration"]
        temperature = float(calibration["temperature"])
        sure_at = {label: float(calibration["sure_at"][label.value]) for label in LABELS}
        answers_from = float(calibration["answers_from"])
        shared = {name: manifest["shared"][name] for name in PLACE}
        digests = {name: str(manifest["files"][name]) for name in _SHIPPED}
        digests.update({f"minilm/{name}": str(manifest["shared"][name]) for name in ("model.onnx", "tokenizer.json")})
        sound = manifest["labels"] == [label.value for label in LABELS] and temperature > 0
        sound = sound and all(0.5 < share < 1 for share in sure_at.values()) and math.isfinite(answers_from)
        sound = sound and all(int(shared[name]) > 0 for name in ("offset", "words", "width"))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise model_unavailable_error("its manifest is missing or unreadable") from error
    if not sound:
        raise model_unavailable_error("its manifest is incomplete")
    return ModelCard(hashlib.sha256(data).hexdigest()[:16], temperature, sure_at, answers_from, shared, digests)


def probabilities(
    logits: NDArray[np.float64], temperature: float, sure_at: Mapping[Label, float]
) -> NDArray[np.float64]:
    """Calibrated probabilities of one pair.

    The softmax at one temperature; then the winner's share is bent so that `sure_at` of its label becomes ACTED_ON,
    and the others share the rest as before. Shares of 0.5 and less stay, so the winner stays the winner. Both are
    fitted on held-back pairs so that a SUPERSEDE or MERGE that is acted on is right 19 times in 20 (design section 4;
    `packaging/training/relation_model/train_relations.py`).

    Args:
        logits: shape (4,), finite.
        temperature: above 0.
        sure_at: by winning label, above 0.5 and below 1.

    Returns:
        Shape (4,), each 0 to 1, summing to 1.
    """
    scaled = np.exp((logits - logits.max()) / temperature)
    shares = scaled / scaled.sum()
    winner = int(np.argmax(shares))
    before = float(shares[winner])
    if before <= 0.5:
        return np.asarray(shares, np.float64)
    after = float(np.interp(before, (0.5, sure_at[LABELS[winner]], 1.0), (0.5, ACTED_ON, 1.0)))
    rest = shares.sum() - before
    bent = shares * ((1 - after) / rest if rest > 0 else 0.0)
    bent[winner] = after if rest > 0 else 1.0
    return np.asarray(bent, np.float64)


def relate_by_rule(existing: ComparedText, incoming: ComparedText) -> Relation | None:
    """What is certain without the model: the same text, or two of a numbered series."""
    if is_same_text(existing.text, incoming.text):
        return certain_relation(Label.DUPLICATE, IDENTICAL)
    if are_in_series(existing.text, incoming.text) and not has_contradiction(existing.claims, incoming.claims):
        return certain_relation(Label.COEXIST, NUMBERED)
    return None


def certain_relation(label: Label, reason: str) -> Relation:
    """A relation that rules know for certain."""
    return Relation(label, 1.0, {each: float(each is label) for each in LABELS}, "rules", reason)


def is_same_text(existing: str, incoming: str) -> bool:
    """Whether two texts are one but for case, blanks, letter forms and a full stop at the end.

    The whole texts are compared, however long.
    """
    return _fold_text(existing) == _fold_text(incoming)


class _Tokens:
    """The tokenizer for one call: the newcomer is in every pair of it, and is split once."""

    def __init__(self, encoder: SharedEncoder) -> None:
        self._word_tokens = encoder.word_tokens
        self._known: dict[str, _Split] = {}
        self.token_to_id = encoder.tokenizer.token_to_id

    def encode(self, text: str, *, add_special_tokens: bool) -> _Split:
        del add_special_tokens  # none are added
        found = self._known.get(text)
        if found is None:
            found = self._known[text] = _Split(*self._word_tokens.read(text))
        return found


@dataclass(frozen=True, slots=True)
class _Split:
    """What is read of a split text."""

    ids: list[int]
    offsets: list[tuple[int, int]]


def _by_model(
    card: ModelCard,
    logits: NDArray[np.float64],
    pair: tuple[ComparedText, ComparedText],
    sides: Mapping[str, PreparedText],
) -> Relation:
    shares = probabilities(logits, card.temperature, card.sure_at)
    best = int(np.argmax(shares))
    existing, incoming = pair
    reason = BY_MEANING
    if LABELS[best] is Label.SUPERSEDE:
        reason = _why_replaced(existing, incoming, sides[existing.text], sides[incoming.text])
    given = {label: float(share) for label, share in zip(LABELS, shares, strict=True)}
    return Relation(LABELS[best], given[LABELS[best]], given, "builtin", reason)


def _fold_text(text: str) -> str:
    return " ".join(fold_case(fold_width(text)).split()).rstrip(". ")


def _why_replaced(existing: ComparedText, incoming: ComparedText, old: PreparedText, new: PreparedText) -> str:
    """The plainest sign that one text replaces the other."""
    if has_contradiction(existing.claims, incoming.claims):
        return CLAIMS_AT_ODDS
    if _is_only_negated(old, new):
        return NEGATED
    before, after = old.forms, new.forms
    changed = [i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b]
    if len(before) != len(after) or len(changed) != 1:
        return BY_MEANING
    pair = tuple([word for word in side.words if not word.continues][changed[0]] for side in (old, new))
    if all(word.form in load_vocabulary()["dates"] for word in pair):
        return DATE_CHANGED
    if all(word.number for word in pair):
        return NUMBER_CHANGED
    return NAME_CHANGED if all(word.name for word in pair) else VALUE_CHANGED


def _is_only_negated(old: PreparedText, new: PreparedText) -> bool:
    """Whether the words are the same but for a negation and its helper."""
    return _forms_without_negation(old) == _forms_without_negation(new) and old.negations != new.negations


def _forms_without_negation(side: PreparedText) -> tuple[str, ...]:
    """The word forms of a side without negations and their helpers."""
    lists = load_vocabulary()
    return tuple(form.removesuffix("s") for form in side.forms if form not in lists["negations"] | lists["helpers"])
