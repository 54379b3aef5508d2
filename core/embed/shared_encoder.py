"""What the project's own models share with the built-in embedder: its tokenizer, its word vectors and the runtime.

A model of ours ships its layers alone; its manifest names the embedder's files by their digests and says where the word
vectors lie. Must not do: fetch anything, keep a text, or import the runtime before a model is loaded.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import Code, EnvironmentFaultError

PLACE = ("offset", "words", "width", "scale", "zero")
"""What a manifest says of where the word vectors lie."""


@dataclass(frozen=True)
class ModelFiles:
    """A model's folder, and its name in a message ("the model that compares memories")."""

    folder: Traversable
    role: str

    def unavailable(self, what: str) -> EnvironmentFaultError:
        """E3001 with one sentence."""
        return EnvironmentFaultError(
            Code.EMBEDDER_UNAVAILABLE, f"The {self.role} cannot be used: {what}; reinstall Loci."
        )

    def read(self, name: str, digest: str) -> bytes:
        """A file of the model.

        Raises:
            EnvironmentFaultError: E3001 if it is missing or is not the one the manifest names.
        """
        return self._read(self.folder, name, digest)

    def read_encoder(self, name: str, digest: str) -> bytes:
        """A file of the embedder; raises as `read` does."""
        return self._read(encoder_folder(), name, digest)

    def _read(self, folder: Traversable, name: str, digest: str) -> bytes:
        try:
            data = folder.joinpath(name).read_bytes()
        except OSError as error:
            raise self.unavailable(f"{name} is missing") from error
        if hashlib.sha256(data).hexdigest() != digest:
            raise self.unavailable(f"{name} is not the file that was shipped")
        return data

    def open_session(self, name: str, digest: str, threads: int) -> Any:
        """The runtime's session of a model file.

        Args:
            name: of the file.
            digest: its SHA-256.
            threads: processor threads, at least 1.

        Raises:
            EnvironmentFaultError: E3001 if the file is not the one, or the runtime refuses it.
        """
        data = self.read(name, digest)
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.enable_cpu_mem_arena = False
        # Waiting threads sleep: on a busy machine, threads that spin take the processor from the one they wait for.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 4  # the runtime would print to stderr
        try:
            return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        except runtime_faults() as error:
            raise self.unavailable("the runtime refuses it") from error


@dataclass(frozen=True)
class SharedEncoder:
    """The embedder's tokenizer and its int8 word vectors.

    Attributes:
        words: the word vectors, (words, width), int8 with `scale` and `zero`.
        tokenizer: without padding and truncation.
    """

    words: NDArray[np.uint8]
    scale: np.float32
    zero: np.float32
    tokenizer: Any

    @classmethod
    def load(cls, model: ModelFiles, place: Mapping[str, Any], digests: Mapping[str, str]) -> SharedEncoder:
        """Read both.

        Args:
            model: whose manifest names them.
            place: `PLACE` of its manifest.
            digests: SHA-256 of the embedder's `model.onnx` and `tokenizer.json`.

        Raises:
            EnvironmentFaultError: E3001 if a file is not the one, or the place lies outside of it.
        """
        encoder = model.read_encoder("model.onnx", digests["model.onnx"])
        names = model.read_encoder("tokenizer.json", digests["tokenizer.json"])
        words, width, offset = int(place["words"]), int(place["width"]), int(place["offset"])
        if offset + words * width > len(encoder):
            raise model.unavailable("its manifest is incomplete")
        # Copied, so that the other half of the file can be let go.
        table = np.frombuffer(encoder, np.uint8, words * width, offset).reshape(words, width).copy()
        return cls(table, np.float32(place["scale"]), np.float32(place["zero"]), _open_tokenizer(names))

    def vectors(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        """The word vectors of tokens, shape (len(ids), width)."""
        return (self.words[ids].astype(np.float32) - self.zero) * self.scale


def encoder_folder() -> Traversable:
    """The folder of the embedder that ships with Loci."""
    return files("resources").joinpath("model").joinpath("minilm")


def _open_tokenizer(data: bytes) -> Any:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_buffer(data)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def runtime_faults() -> tuple[type[Exception], ...]:
    """The runtime's own errors; they share no base but Exception."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    return tuple(v for v in vars(state).values() if isinstance(v, type) and issubclass(v, Exception))
