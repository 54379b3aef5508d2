"""What a sentence states, by the reader model that ships: each sentence is read with what was said just before it.

Each sentence is run by itself, so that what is read of it does not depend on the others of a call. The runtime uses one
thread: whoever distils does it beside other work. Must not do: fetch anything, keep or log a text, decide what becomes
of a sentence, or import the runtime before the first sentence.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import numpy as np

from core.embed.embedder import PLACE, ModelFiles, SharedEncoder, runtime_faults
from core.errors import Code, LociError
from core.talk.reader_features import POINTERS, POOLED, SentenceFeatures, encode_sentence, read_logits
from core.types.talk import Assertion, Reading, SentenceInContext, StatementType

TEMPERATURES = ("type", "assertion", "lasting", "worth")


@dataclass(frozen=True, slots=True)
class ReaderCard:
    """What the manifest says.

    Attributes:
        version: 16 hex digits over every file a reading depends on.
        temperatures: what the logits of each of `TEMPERATURES` are divided by, above 0.
        place: where the word vectors lie in the embedder's file.
        digests: SHA-256 of `reader` (the model), and of the embedder's `model.onnx` and `tokenizer.json`.
    """

    version: str
    temperatures: Mapping[str, float]
    place: Mapping[str, Any]
    digests: Mapping[str, str]


class ReaderModel:
    """Reads sentences; loads its files when the first one comes. Several threads may use it at once."""

    def __init__(self, folder: Traversable | None = None) -> None:
        """Make one; nothing is read yet.

        Args:
            folder: the folder with manifest.json and model.onnx; None for the bundled one.
        """
        self._files = ModelFiles(reader_folder() if folder is None else folder, "model that reads statements")
        self._lock = threading.Lock()
        self._loaded: tuple[ReaderCard, SharedEncoder, Any] | None = None

    @property
    def card(self) -> ReaderCard:
        """What the manifest says; `card.version` changes whenever a sentence could be read otherwise.

        Raises:
            EnvironmentFaultError: E3001 if the manifest is missing, unreadable or incomplete.
        """
        return read_card(self._files)

    def read(self, sentences: Sequence[SentenceInContext]) -> tuple[Reading, ...]:
        """Read sentences.

        Args:
            sentences: any texts; the first 64 tokens of each are read.

        Returns:
            One reading a sentence, in order.

        Raises:
            LociError: E3001 if the model cannot be loaded, E3002 if it gave no usable answer.
        """
        if not sentences:
            return ()
        card, encoder, session = self._load()
        rows = [encode_sentence(encoder.tokenizer, sentence) for sentence in sentences]
        try:
            return tuple(_read(card, encoder, session, row) for row in rows)
        except runtime_faults() as error:
            raise LociError(Code.EMBEDDING_FAILED, "The model that reads statements failed on a sentence.") from error

    def rest(self) -> None:
        """Let go of what was loaded; who is reading goes on, and who reads again loads it again."""
        with self._lock:
            self._loaded = None

    def _load(self) -> tuple[ReaderCard, SharedEncoder, Any]:
        with self._lock:
            if self._loaded is None:
                card = self.card
                encoder = SharedEncoder.load(self._files, card.place, card.digests)
                session = self._files.open_session("model.onnx", card.digests["reader"], 1)
                self._loaded = card, encoder, session
            return self._loaded


def _read(card: ReaderCard, encoder: SharedEncoder, session: Any, row: SentenceFeatures) -> Reading:
    feed = {"words": encoder.vectors(row.ids)[None], "kinds": row.kinds[None]}
    sentence, tokens = session.run(None, feed)
    is_usable = sentence.shape == (1, POOLED) and tokens.shape == (1, len(row.ids), POINTERS)
    if not is_usable or not (np.isfinite(sentence).all() and np.isfinite(tokens).all()):
        raise LociError(Code.EMBEDDING_FAILED, "The model that reads statements gave no usable answer.")
    return read_logits(sentence[0].astype(np.float64), tokens[0].astype(np.float64), row, card.temperatures)


def reader_folder() -> Traversable:
    """The folder of the reader model that ships with Loci."""
    return files("resources").joinpath("model").joinpath("reader")


def read_card(model: ModelFiles) -> ReaderCard:
    """Read the manifest.

    Raises:
        EnvironmentFaultError: E3001 if it is missing, unreadable or incomplete.
    """
    try:
        data = model.folder.joinpath("manifest.json").read_bytes()
        manifest = json.loads(data)
        temperatures = {name: float(manifest["temperatures"][name]) for name in TEMPERATURES}
        place = {name: manifest["shared"][name] for name in PLACE}
        digests = {name: str(manifest["shared"][name]) for name in ("model.onnx", "tokenizer.json")}
        digests["reader"] = str(manifest["files"]["model.onnx"])
        is_sound = manifest["types"] == list(StatementType) and manifest["assertions"] == list(Assertion)
        is_sound = is_sound and all(value > 0 for value in temperatures.values())
        is_sound = is_sound and all(int(place[name]) > 0 for name in ("offset", "words", "width"))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise model.unavailable("its manifest is missing or unreadable") from error
    if not is_sound:
        raise model.unavailable("its manifest is incomplete")
    return ReaderCard(hashlib.sha256(data).hexdigest()[:16], temperatures, place, digests)
