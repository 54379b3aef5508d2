"""The built-in embedder: all-MiniLM-L6-v2, int8, in onnxruntime on the processor, loaded when the first text comes.

Most verbs of the command line need no model, so its name and version are known before it is loaded. Must not do: fetch
anything, keep texts, batch them, or import the runtime before it is constructed.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Callable, Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import numpy as np

from core.embed.base import Embedder, NamedEmbedder, Vectors
from core.errors import Code, EnvironmentFaultError, LociError


class LazyEmbedder(NamedEmbedder):
    """Stands for an embedder whose name and version are known before it is loaded."""

    def __init__(self, name: str, version: str, dims: int, load: Callable[[], Embedder]) -> None:
        """Make one.

        Args:
            name: the model's name.
            version: its version, as the loaded one will say.
            dims: length of a vector.
            load: makes the real one; called at most once that succeeds.
        """
        super().__init__(name, version, dims)
        self._load = load
        self._lock = threading.Lock()  # guards _real
        self._real: Embedder | None = None

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts; see `Embedder.embed`."""
        return self.loaded().embed(texts)

    def embed_one(self, text: str) -> Vectors:
        """Embed one text; see `Embedder.embed_one`."""
        return self.loaded().embed_one(text)

    def loaded(self) -> Embedder:
        """The real embedder, loaded now if it was not.

        Raises:
            EnvironmentFaultError: E3001 when it cannot be loaded.
        """
        with self._lock:
            if self._real is None:
                self._real = self._load()
            return self._real


# 256 tokens are rarely more than 1,500 characters. The cut bounds the tokenizer's work on a text of many megabytes.
_MAX_CHARS = 16_384
_SURROGATE = re.compile("[\ud800-\udfff]")


def bundled_model() -> Traversable:
    """The folder of the model that ships with Loci."""
    return files("resources").joinpath("model").joinpath("minilm")


class MiniLmEmbedder:
    """all-MiniLM-L6-v2 with mean pooling and L2 norm inside the graph.

    Each text is run by itself: dynamic int8 scales its activations over the whole batch, so a neighbour or padding
    would change the vector (cosine down to 0.977, stack facts section 10), and batches are not faster.

    Reads the first 256 tokens of a text, at most its first 16,384 characters. Lone surrogates are read as U+FFFD;
    NUL and other control characters are skipped by the tokenizer. An empty or blank text has a vector too (that of
    the two frame tokens): finite, of unit length, and without meaning, so callers leave such texts out.

    Several threads may call at once without a lock; with `threads=1` two callers on two cores get more out of the
    machine (1.2 times) than one caller with `threads=2`.
    """

    def __init__(self, model: Traversable | None = None, *, threads: int = 1) -> None:
        """Load the model and check it against its manifest.

        Args:
            model: the folder with manifest.json, model.onnx and tokenizer.json; None for the bundled one.
            threads: processor threads for one text, at least 1.

        Raises:
            EnvironmentFaultError: E3001 if a file is missing or is not the one the manifest names, or the runtime
                cannot load it.
        """
        folder = bundled_model() if model is None else model
        manifest = _read_manifest(folder)
        self._name: str = manifest["name"]
        self._dims: int = manifest["dims"]
        tokenizer_bytes = _verified(folder, manifest, "tokenizer.json")
        model_bytes = _verified(folder, manifest, "model.onnx")
        self._version = _version(manifest)
        self._tokenizer = _open_tokenizer(tokenizer_bytes, manifest["max_tokens"])
        self._faults = _runtime_faults()
        self._session = _open_session(model_bytes, max(1, threads), self._faults)

    @property
    def name(self) -> str:
        """The model's name."""
        return self._name

    @property
    def dims(self) -> int:
        """Length of a vector: 384."""
        return self._dims

    @property
    def version(self) -> str:
        """16 hex digits over the checksums of model and tokenizer and the token limit."""
        return self._version

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed several texts, one after the other on the calling thread.

        Args:
            texts: any strings.

        Returns:
            Unit rows, shape (len(texts), 384).

        Raises:
            LociError: E3002 if the model gave no usable vector.
        """
        rows = np.empty((len(texts), self._dims), np.float32)
        for i, text in enumerate(texts):
            rows[i] = self.embed_one(text)
        return rows

    def embed_one(self, text: str) -> Vectors:
        """Embed one text.

        Args:
            text: any string.

        Returns:
            A unit vector, shape (384,).

        Raises:
            LociError: E3002 if the model gave no usable vector.
        """
        ids = np.array([self._tokenizer.encode(_SURROGATE.sub("\ufffd", text[:_MAX_CHARS])).ids], np.int64)
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        try:
            vector: Vectors = self._session.run(None, feed)[0][0]
        except self._faults as error:
            raise LociError(Code.EMBEDDING_FAILED, "The model failed on a text.") from error
        norm = float(np.linalg.norm(vector))
        if vector.shape != (self._dims,):
            raise LociError(Code.DIMENSION_MISMATCH, f"The model gave {vector.shape[0]} dimensions, not {self._dims}.")
        if not 0.5 < norm < 2.0:  # also false for NaN
            raise LociError(Code.EMBEDDING_FAILED, "The model gave no usable vector for a text.")
        return np.asarray(vector / np.float32(norm), np.float32)


def _unavailable(what: str) -> EnvironmentFaultError:
    return EnvironmentFaultError(Code.EMBEDDER_UNAVAILABLE, f"The search model cannot be used: {what}; reinstall Loci.")


def lazy_embedder() -> LazyEmbedder:
    """The bundled embedder, loaded when the first text comes.

    Returns:
        Its stand-in, which knows name, version and length.

    Raises:
        EnvironmentFaultError: E3001 if the manifest is missing or unreadable.
    """
    manifest = _read_manifest(bundled_model())
    return LazyEmbedder(manifest["name"], _version(manifest), manifest["dims"], MiniLmEmbedder)


def _version(manifest: dict[str, Any]) -> str:
    seed = f"{manifest['files']['model.onnx']} {manifest['files']['tokenizer.json']} {manifest['max_tokens']}"
    return hashlib.sha256(seed.encode()).hexdigest()[:16]


def _read_manifest(folder: Traversable) -> dict[str, Any]:
    try:
        manifest = json.loads(folder.joinpath("manifest.json").read_bytes())
        names = set(manifest["files"])
        sound = isinstance(manifest["name"], str) and manifest["dims"] > 0 and manifest["max_tokens"] > 2
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _unavailable("its manifest is missing or unreadable") from error
    if not sound or not {"model.onnx", "tokenizer.json"} <= names:
        raise _unavailable("its manifest is incomplete")
    return dict(manifest)


def _verified(folder: Traversable, manifest: dict[str, Any], name: str) -> bytes:
    """The bytes of a file, exactly those that were checked."""
    try:
        data = folder.joinpath(name).read_bytes()
    except OSError as error:
        raise _unavailable(f"{name} is missing") from error
    if hashlib.sha256(data).hexdigest() != manifest["files"][name]:
        raise _unavailable(f"{name} is not the file that was shipped")
    return data


def _open_tokenizer(data: bytes, max_tokens: int) -> Any:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_buffer(data)
    # The published file pads and cuts to 128 tokens; both would change vectors.
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens)
    return tokenizer


def _runtime_faults() -> tuple[type[Exception], ...]:
    """The runtime's own errors; they share no base but Exception."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    return tuple(v for v in vars(state).values() if isinstance(v, type) and issubclass(v, Exception))


def _open_session(data: bytes, threads: int, faults: tuple[type[Exception], ...]) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False  # 60 MB less for a tenth of the speed
    options.log_severity_level = 4  # the runtime would print to stderr
    try:
        return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    except faults as error:
        raise _unavailable("the runtime refuses it") from error
