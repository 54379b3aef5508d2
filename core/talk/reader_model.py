"""What a sentence states, by the reader model that ships: each sentence is read with what was said just before it.

What a first look (`core.talk.first_look`) finds to be surely not told is not read closely. Each other sentence is run
by itself, so that what is read of it does not depend on the others of a call. The runtime uses one thread: whoever
distils does it beside other work. Must not do: fetch anything, keep or log a text, decide what becomes of a sentence,
or import the runtime before the first sentence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.embed.embedder import (
    ModelFiles,
    ModelManifest,
    SentenceSession,
    SharedEncoder,
    read_manifest,
    runtime_faults,
)
from core.errors import Code, LociError
from core.talk.first_look import FILE, FirstLook, look_at
from core.talk.reader_features import POINTERS, POOLED, SentenceFeatures, TextTokens, encode_sentence, read_logits
from core.types.talk import Assertion, Reading, SentenceInContext, StatementType

TEMPERATURES = ("type", "assertion", "lasting", "worth")


@dataclass(frozen=True, slots=True)
class ReaderCard:
    """What the manifest of the reader model says.

    Attributes:
        temperatures: what the logits of each of `TEMPERATURES` are divided by, above 0.
        first_look: limits of the first look and the digest of its file (`file`); None where every sentence is read.
    """

    manifest: ModelManifest
    temperatures: Mapping[str, float]
    first_look: Mapping[str, Any] | None = None

    @property
    def version(self) -> str:
        """16 hex digits over every file a reading depends on."""
        return self.manifest.version


class ReaderModel:
    """Reads sentences; loads its files when the first one comes. Several threads may use it at once."""

    def __init__(self, folder: Traversable | None = None) -> None:
        """Make one; nothing is read yet.

        Args:
            folder: the folder with manifest.json and model.onnx; None for the bundled one.
        """
        self._files = ModelFiles(reader_folder() if folder is None else folder, "model that reads statements")
        self._session = SentenceSession(self._files)
        self._card: ReaderCard | None = None
        self._first_look: FirstLook | None = None

    @property
    def card(self) -> ReaderCard:
        """What the manifest says; `card.version` changes whenever a sentence could be read otherwise.

        Raises:
            EnvironmentFaultError: E3001 if the manifest is missing, unreadable or incomplete.
        """
        if self._card is None:
            self._card = read_card(self._files)
        return self._card

    def read(self, sentences: Sequence[SentenceInContext]) -> tuple[Reading, ...]:
        """Read sentences, but for those that a first look finds to be surely not told.

        Args:
            sentences: any texts; the first 64 tokens of each are read.

        Returns:
            One reading a sentence, in order.

        Raises:
            LociError: E3001 if the model cannot be loaded, E3002 if it gave no usable answer.
        """
        return self._read_all(sentences, self._load_first_look()) if sentences else ()

    def read_closely(self, sentences: Sequence[SentenceInContext]) -> tuple[Reading, ...]:
        """As `read`, every sentence by the model."""
        return self._read_all(sentences, None) if sentences else ()

    def load(self) -> tuple[SharedEncoder, Any]:
        """The encoder and the session; raises as `read` does."""
        return self._session.load(self.card.manifest)

    def _read_all(self, sentences: Sequence[SentenceInContext], look: FirstLook | None) -> tuple[Reading, ...]:
        encoder, session = self.load()
        found = []
        tokens = TextTokens(encoder.tokenizer, encoder.word_tokens)
        try:
            for sentence in sentences:
                row = encode_sentence(tokens, sentence)
                words = encoder.vectors(row.ids)
                settled = None if look is None else look.settle(look_at(sentence, row, words))
                found.append(settled or _run_reader_model(self.card, session, row, words))
        except runtime_faults() as error:
            raise LociError(Code.EMBEDDING_FAILED, "The model that reads statements failed on a sentence.") from error
        return tuple(found)

    def _load_first_look(self) -> FirstLook | None:
        limits = self.card.first_look
        if self._first_look is None and limits is not None:
            data = self._files.read(FILE, str(limits["file"]))
            try:
                self._first_look = FirstLook.open(data, limits)
            except (ValueError, OSError) as error:
                raise self._files.unavailable(f"{FILE} is no first look") from error
        return self._first_look

    def rest(self) -> None:
        """Let go of what was loaded; who is reading goes on, and who reads again loads it again."""
        self._session.rest()


def _run_reader_model(card: ReaderCard, session: Any, row: SentenceFeatures, words: NDArray[np.float32]) -> Reading:
    sentence, tokens = session.run(None, {"words": words[None], "kinds": row.kinds[None]})
    is_usable = sentence.shape == (1, POOLED) and tokens.shape == (1, len(row.offsets) + 2, POINTERS)
    if not is_usable or not (np.isfinite(sentence).all() and np.isfinite(tokens).all()):
        raise LociError(Code.EMBEDDING_FAILED, "The model that reads statements gave no usable answer.")
    return read_logits(sentence[0].astype(np.float64), tokens[0].astype(np.float64), row, card.temperatures)


def reader_folder() -> Traversable:
    """The folder of the reader model that ships with Loci."""
    return files("resources").joinpath("model").joinpath("reader")


def read_card(model: ModelFiles) -> ReaderCard:
    """Read the manifest of the reader model.

    Raises:
        EnvironmentFaultError: E3001 if it is missing, unreadable or incomplete.
    """
    manifest = read_manifest(model, _is_sound)
    temperatures = {name: float(manifest.content["temperatures"][name]) for name in TEMPERATURES}
    look = manifest.content.get("first_look")
    return ReaderCard(
        manifest, temperatures, None if look is None else {**look, "file": manifest.content["files"][FILE]}
    )


def _is_sound(content: Mapping[str, Any]) -> bool:
    is_known = content["types"] == list(StatementType) and content["assertions"] == list(Assertion)
    look = content.get("first_look")
    is_limited = look is None or (
        FILE in content["files"] and all(0 <= float(look[name]) <= 1 for name in ("told_from", "worthy_from"))
    )
    return is_known and is_limited and all(float(content["temperatures"][name]) > 0 for name in TEMPERATURES)
