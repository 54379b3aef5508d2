"""The relation model's files, loaded and run: what it says of a pair of texts, before anything is made of it.

It says how a newcomer relates to what stands, as logits (`core.belief.relate.relation_model` makes relations of them),
whether it ends that, and how well a memory answers a question, which then stands where the newcomer would. Two threads
take the pairs of a call in turn, the caller's and the session's own: two threads inside one pair wait for each other at
every layer, so a pair for each takes half the time. Every pair is still run alone, so its answer does not depend on the
others. Must not do: act on what it says, know a claim, a rule or the vault, fetch anything, keep texts, start a thread,
or import the runtime before the first pair.
"""

from __future__ import annotations

import hashlib
import json
import math
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from importlib.resources.abc import Traversable
from queue import SimpleQueue
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from core.belief.relate.features import FIGURES, PreparedText, encode_pair, prepare_text
from core.embed.embedder import PLACE, ModelFiles, SharedEncoder, runtime_faults
from core.errors import Code, EnvironmentFaultError, LociError
from core.types.belief import LABELS, Label

Feed = Mapping[str, Any]
"""Arrays by the name of the model's input."""
_LONG = 400
"""About as many characters of a side as fill the tokens that are read of it."""
_WIDTHS = {"logits": len(LABELS), "ends": 1, "answers": 1}
"""Of the model's outputs, for one pair."""
_SHIPPED = ("model.onnx", "words.json")


class PairQueue:
    """The inputs of one call of the relation model, each run once."""

    def __init__(self, session: Any, outputs: Sequence[str], feeds: Sequence[Callable[[], Feed]]) -> None:
        """Take the inputs.

        Args:
            session: the runtime's session, with a thread of its own besides the caller's.
            outputs: which of the model's outputs are wanted.
            feeds: make the inputs, each called once, in either thread.
        """
        self._session = session
        self._outputs = list(outputs)
        self._feeds = feeds
        self._todo = deque(range(len(feeds)))
        self._found: list[Any] = [None] * len(feeds)
        self._held: list[Any] = [None] * len(feeds)  # inputs that the session's thread reads
        self._fault: Exception | None = None
        self._ended: SimpleQueue[None] = SimpleQueue()

    def run(self) -> list[Any]:
        """Run all of them, in their order where one thread would do it.

        Returns:
            The outputs of each; None for one that the session's thread could not run.

        Raises:
            Exception: what the session or an input raised, after the other thread has ended.
        """
        self._send_next_pair()
        try:
            while (nr := self._take_next_number()) is not None:
                self._found[nr] = self._session.run(self._outputs, dict(self._feeds[nr]()))
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
            self._found[nr] = None if error else found
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


@dataclass(frozen=True, slots=True)
class PairOutput:
    """What the model says of a pair.

    Attributes:
        logits: of the four relations, shape (4,), in the order of LABELS, finite.
        ends: log odds that the newcomer ends what stands, beside 0 for ending none of what stands near it; finite.
    """

    logits: NDArray[np.float64]
    ends: float


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

    def relate(self, pairs: Sequence[tuple[PreparedText, PreparedText]]) -> list[PairOutput]:
        """What the model says of each pair.

        Args:
            pairs: what stands, and what is new.

        Raises:
            LociError: E3002 if the model gave nothing usable.
        """
        return [PairOutput(logits, float(ends[0])) for logits, ends in self._run_pairs(pairs, "logits", "ends")]

    def answer_logits(self, question: PreparedText, texts: Sequence[PreparedText]) -> list[float]:
        """How well each text answers a question.

        Returns:
            One finite log odds a text, in order.

        Raises:
            LociError: E3002 if the model gave nothing usable.
        """
        return [float(odds[0]) for (odds,) in self._run_pairs([(text, question) for text in texts], "answers")]

    def _run_pairs(
        self, pairs: Sequence[tuple[PreparedText, PreparedText]], *outputs: str
    ) -> list[list[NDArray[np.float64]]]:
        """The outputs of each pair, as rows of their width."""
        tokens = _Tokens(self.encoder)
        # The longest first: whichever thread takes the last one does not keep the other waiting for long.
        order = sorted(range(len(pairs)), key=lambda nr: -sum(min(len(side.text), _LONG) for side in pairs[nr]))
        feeds = [partial(self._model_inputs, tokens, *pairs[nr]) for nr in order]
        try:
            if self._threads > 1 and len(feeds) > 1:
                found = PairQueue(self._session, outputs, feeds).run()
            else:
                found = [self._session.run(list(outputs), feed()) for feed in feeds]
        except runtime_faults() as error:
            raise LociError(Code.EMBEDDING_FAILED, "The model that compares memories failed on a pair.") from error
        if not all(_is_usable(outs, outputs) for outs in found):
            raise LociError(Code.EMBEDDING_FAILED, "The model that compares memories gave no usable answer.")
        rows = dict(zip(order, found, strict=True))
        return [[np.asarray(out[0], np.float64) for out in rows[nr]] for nr in range(len(pairs))]

    def _model_inputs(self, tokens: _Tokens, existing: PreparedText, incoming: PreparedText) -> dict[str, NDArray[Any]]:
        row = encode_pair(tokens, existing, incoming)
        words = self.encoder.vectors(row.ids)
        return {"words": words[None], "kinds": row.kinds[None], "figures": row.figures.reshape(1, FIGURES)}


def _is_usable(outs: Sequence[Any] | None, outputs: Sequence[str]) -> bool:
    """Whether a run gave every output that was wanted, each a row of its width."""
    return outs is not None and all(
        out is not None and out.shape == (1, _WIDTHS[name]) and np.isfinite(out).all()
        for out, name in zip(outs, outputs, strict=True)
    )


class PairModel:
    """Reads pairs of texts; loads its files when the first pair comes.

    What is said of a pair depends on its two texts alone: never on the other pairs of a call, their order or the
    calling thread. Reads 64 tokens of each side: of a longer text those where most words of the other side are, within
    its first 3,000 characters. All who use one folder with as many threads share what is loaded.
    """

    def __init__(
        self, folder: Traversable | None = None, *, threads: int = 2, load: Callable[[], Runtime] | None = None
    ) -> None:
        """Make one; nothing is read yet.

        Args:
            folder: the folder with manifest.json, model.onnx and words.json; None for the bundled one.
            threads: processor threads, at least 1; with 2 or more, two pairs are run side by side.
            load: loads it otherwise; None to share what is loaded.
        """
        self._folder = relation_folder() if folder is None else folder
        self._load = load or partial(_share_runtime, self._folder, threads)
        self._lock = threading.Lock()  # guards _runtime
        self._runtime: Runtime | None = None

    @property
    def card(self) -> ModelCard:
        """What the manifest says; `card.version` changes whenever a pair could get another answer.

        Raises:
            EnvironmentFaultError: E3001 if the manifest is missing or unreadable.
        """
        return read_card(self._folder)

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


_in_use: WeakValueDictionary[tuple[str, int], Runtime] = WeakValueDictionary()
_in_use_lock = threading.Lock()


def _share_runtime(folder: Traversable, threads: int) -> Runtime:
    """What is loaded of a folder already, for as long as anybody uses it; else it is loaded."""
    with _in_use_lock:
        key = str(folder), threads
        found = _in_use.get(key)
        if found is None:
            found = _in_use[key] = Runtime(folder, threads=threads)
        return found


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
