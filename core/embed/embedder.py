"""What every embedder promises, vectors as bytes, the built-in one (all-MiniLM-L6-v2), and a count of tokens.

The vault keeps little-endian float16, one blob a vector: half the space, and a unit vector's cosines move by less than
0.001. A blob is refused only where it is not a finite vector of the right length. The built-in embedder is int8 in
onnxruntime, and tokens are counted by its vocabulary.

The project's own models share the built-in one's tokenizer, word vectors and runtime: each ships its layers alone, and
its manifest names the embedder's files by their digests and says where the word vectors lie.

Most verbs of the command line need no model, so its name and version are known before it is loaded, with the first
text. One token counter serves everything that is packed (E8.10, C37, C39). Its estimate reads a text with the
embedder's own WordPiece vocabulary, uncut, and adds what that vocabulary passes over: line breaks, indentation,
invisible signs, unknown signs by their bytes. It is never below a quarter of the characters (seeds A and B) and meant
to be high rather than low. Measured against OpenAI's two public byte-pair vocabularies, estimate divided by exact count
(cl100k / o200k): English prose 1.14 / 1.14, chat 1.13 / 1.23, Python 1.33 / 1.33, SQL 1.47 / 1.47, JSON 1.44 / 1.43,
SVG 1.34 / 1.33, a Markdown table 1.12 / 1.12, German 1.35 / 1.89, French 1.28 / 1.56, Vietnamese 1.04 / 1.76, Russian
1.86 / 3.25, Greek 1.22 / 2.75, Chinese 1.43 / 2.14, Japanese 1.14 / 1.87, Korean 1.50 / 2.92, Arabic 1.64 / 3.49, Hindi
1.14 / 3.37, Thai 1.96 / 5.34, emoji alone 1.17 / 1.76, upper case 1.13 / 1.06, UUIDs 1.20 / 1.19, random base64 0.96 /
1.01, a packed context of ten memories 1.19 / 1.19. Median over 37 such texts 1.21 / 1.40; a quarter of the characters
alone is 0.90 / 0.98 for chat, 0.25 / 0.69 for Thai. An exact count needs the model's own tokenizer: a `tokenizer.json`
that the person put into the home.

Must not do: fetch anything, keep or log a text, batch texts, or import the runtime before an embedder is constructed.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Protocol
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from core import log
from core.errors import Code, EnvironmentFaultError, IntegrityError, LociError
from core.text.terms import replace_surrogates

_STORED = np.dtype("<f2")
_WORD = re.compile(r"[^ \t\r\n]+")
_MOST_KEPT = 20_000
_LONGEST_KEPT = 32
"""Signs of a word that is kept; a longer one is a link or a key, and comes once."""

TokenOffsets = list[tuple[int, int]]
ReadWord = Callable[[str], tuple[list[int], TokenOffsets]]


def to_blob(vector: NDArray[np.floating]) -> bytes:
    """Pack one vector.

    Args:
        vector: one dimension, finite, within the range of float16 (a unit vector always is).

    Returns:
        Two bytes a component.

    Raises:
        LociError: E3003 for another shape, E3002 for a component that float16 cannot hold.
    """
    if vector.ndim != 1:
        raise LociError(Code.DIMENSION_MISMATCH, "A vector to store must have one dimension.")
    # Compared before the cast: numpy would turn 70000.0 into inf with a warning.
    if not bool(np.all(np.abs(vector) <= np.finfo(np.float16).max)):
        raise LociError(Code.EMBEDDING_FAILED, "A vector to store holds a value that is not a number or too large.")
    return vector.astype(_STORED).tobytes()


def from_blob(blob: bytes, dims: int) -> Vectors:
    """Unpack one vector.

    Args:
        blob: what `to_blob` made.
        dims: the length it must have.

    Returns:
        float32, shape (dims,).

    Raises:
        LociError: E3003 for another length, E3002 if a component is not finite.
    """
    return from_blobs((blob,), dims).reshape(dims)


def from_blobs(blobs: Sequence[bytes], dims: int) -> Vectors:
    """Unpack many vectors at once.

    Args:
        blobs: what `to_blob` made, one each.
        dims: the length each must have.

    Returns:
        float32, shape (len(blobs), dims).

    Raises:
        LociError: E3003 for another length, E3002 if a component is not finite.
    """
    if any(len(blob) != dims * _STORED.itemsize for blob in blobs):
        raise LociError(Code.DIMENSION_MISMATCH, f"A stored vector does not have {dims} dimensions.")
    rows = np.frombuffer(b"".join(blobs), _STORED).reshape(len(blobs), dims).astype(np.float32)
    if not bool(np.isfinite(rows).all()):
        raise IntegrityError(Code.EMBEDDING_FAILED, "A stored vector is damaged; embed its text again.")
    return rows


Vectors = NDArray[np.float32]

AWAY = frozenset(
    {
        Code.EMBEDDER_UNAVAILABLE,
        Code.EMBEDDING_FAILED,
        Code.DIMENSION_MISMATCH,
        Code.MODEL_CHANGED,
        Code.MODEL_SERVER_FAILED,
    }
)
"""Codes of an embedder that cannot answer: what is asked is compared by words, what is stored waits for its vector."""


class Embedder(Protocol):
    """Turns texts into unit vectors.

    A text's vector depends on the text and on `version` alone: never on what it was embedded together with, on
    the number of threads or on the order of calls. An embedder may be used from several threads at once.
    """

    @property
    def name(self) -> str:
        """The model's name, for people and for the vault's `model` column."""
        ...

    @property
    def dims(self) -> int:
        """Length of a vector."""
        ...

    @property
    def version(self) -> str:
        """Changes whenever the same text could get another vector; vectors of two versions do not mix."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed several texts.

        Args:
            texts: any strings, of any length, also empty.

        Returns:
            One unit row a text, shape (len(texts), dims), finite.

        Raises:
            LociError: E3001 if the model cannot be used, E3002 if it gave no usable vector.
        """
        ...

    def embed_one(self, text: str) -> Vectors:
        """Embed one text.

        Returns:
            A unit vector, shape (dims,).

        Raises:
            LociError: as `embed`.
        """
        ...


class NamedEmbedder:
    """Says what an embedder is before anything of its model is there."""

    def __init__(self, name: str, version: str, dims: int) -> None:
        """Keep it.

        Args:
            name: the model's name.
            dims: length of a vector.
        """
        self._facts = name, version, dims

    @property
    def name(self) -> str:
        """The model's name."""
        return self._facts[0]

    @property
    def version(self) -> str:
        """The model's version."""
        return self._facts[1]

    @property
    def dims(self) -> int:
        """Length of a vector."""
        return self._facts[2]


FOLDER = "tokenizers"
"""The directory of the home in which exact tokenizers are looked for, one `<model>.json` each."""

ESTIMATE = "estimate"
CHARS_PER_TOKEN = 4
_MOST_BYTES = 64 * 1024 * 1024
_MODEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,127}")
_PARTING = re.compile(r"[:/@]+")
_UNKNOWN = "[UNK]"
# What a byte-pair vocabulary spends a token on and WordPiece does not: line ends, indents, a blank before a digit.
_GAP = re.compile(r"[\r\n]+|[ \t]{2,}|\t|(?<=\S) (?=\d)")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_CAPITALS = re.compile(r"[A-Z]{4,}")
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")
# Latin with marks, Greek, Hebrew, Arabic, Indic: read without their marks, or sign by sign where bytes are counted.
_MARKED = re.compile(r"[\u0080-\u03ff\u0530-\u0dff\u1e00-\u1fff]")
_VANISHING = frozenset(("Cc", "Cf", "Mn"))
_log = log.get("embed")


class TokenCounter(Protocol):
    """Counts tokens; the same text always gives the same number. May be used from several threads at once."""

    @property
    def name(self) -> str:
        """The model whose tokenizer counts, or `estimate`."""
        ...

    @property
    def exact(self) -> bool:
        """Whether it is that model's own count."""
        ...

    def count(self, text: str) -> int:
        """Tokens of a text, 0 or more; 0 for an empty one."""
        ...


class _Estimate:
    """The estimate that needs nothing but the bundled vocabulary."""

    name, exact = ESTIMATE, False

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._unknown = tokenizer.token_to_id(_UNKNOWN)

    def count(self, text: str) -> int:
        if not text:
            return 0
        text = replace_surrogates(text)
        read = self._tokenizer.encode(text, add_special_tokens=False)
        total = len(read.ids)
        if self._unknown in read.ids:
            spans = (span for piece, span in zip(read.ids, read.offsets, strict=True) if piece == self._unknown)
            total += sum(_half(len(text[start:end].encode())) - 1 for start, end in spans)
        total += len(_GAP.findall(text)) + 2 * len(_CONTROL.findall(text))
        total += sum(len(run) for run in _CAPITALS.findall(text)) // 8
        if not text.isascii():
            total += _passed_over(text)
        return max(total, -(-len(text) // CHARS_PER_TOKEN))


def _half(size: int) -> int:
    return -(-size // 2)


def _passed_over(text: str) -> int:
    """What signs beyond ASCII cost on top: those that vanish two each, those of the upper planes one."""
    extra = len(_MARKED.findall(text)) // 3
    for sign in _BEYOND_ASCII.findall(text):
        extra += 2 * (unicodedata.category(sign) in _VANISHING) + (sign > "\uffff")
    return extra


class _Exact:
    """A model's own tokenizer."""

    exact = True

    def __init__(self, name: str, tokenizer: Any) -> None:
        self.name = name
        self._tokenizer = tokenizer

    def count(self, text: str) -> int:
        return len(self._tokenizer.encode(replace_surrogates(text), add_special_tokens=False).ids)


def counter_for(model: str | None = None, folder: Path | None = None) -> TokenCounter:
    """The best counter there is for a model.

    Args:
        model: the model's name as the caller knows it, such as `llama3:8b`; None for no model in particular.
        folder: where tokenizers lie (`<home>/tokenizers`); None where there are none. A name's `:`, `/` and `@` are
            `-` in the file's name: `llama3-8b.json`.

    Returns:
        The model's own count where its tokenizer lies there and can be read, else the estimate.
    """
    if model is None or folder is None or _MODEL.fullmatch(model) is None:
        return _load_token_estimate()
    path = folder / f"{_PARTING.sub('-', model)}.json"
    try:
        found = path.stat()
    except OSError:
        return _load_token_estimate()
    if not path.is_file() or found.st_size > _MOST_BYTES:
        _log.warning("a tokenizer of the home is no file, or too large; tokens are estimated")
        return _load_token_estimate()
    own = _load_own_tokenizer(model, path, found.st_mtime_ns, found.st_size)
    return _load_token_estimate() if own is None else own


@cache
def _load_token_estimate() -> _Estimate:
    return _Estimate(_share_tokenizer(bundled_model().joinpath("tokenizer.json").read_bytes()))


@lru_cache(maxsize=4)
def _load_own_tokenizer(model: str, path: Path, _changed: int, _size: int) -> _Exact | None:
    """A person's tokenizer; None where it cannot be read, which is told once as long as it stays the same."""
    try:
        tokenizer = _open_tokenizer(path.read_bytes())
    except Exception as error:  # noqa: BLE001 - the library raises plain Exception for a file it cannot read
        _log.warning("a tokenizer of the home cannot be read (%s); tokens are estimated", type(error).__name__)
        return None
    return _Exact(model, tokenizer)


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


def bundled_model() -> Traversable:
    """The folder of the model that ships with Loci."""
    return files("resources").joinpath("model").joinpath("minilm")


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
        return self._read(bundled_model(), name, digest)

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
        options.enable_cpu_mem_arena = False  # 60 MB less for a tenth of the speed
        # Waiting threads sleep: on a busy machine, threads that spin take the processor from the one they wait for.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 4  # the runtime would print to stderr
        try:
            return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        except runtime_faults() as error:
            raise self.unavailable("the runtime refuses it") from error


class WordTokens:
    """The tokenizer's ids and offsets of texts, put together from those of words. Several threads may use it at once.

    No token of the bundled WordPiece vocabulary reaches over a blank, and a word of plain letters is read the same
    whatever stands beside it, so a text is what its words are. Whatever else a text holds is read whole. Words are
    kept, as those of the index are; texts are not.
    """

    def __init__(self, tokenizer: Any) -> None:
        """Nothing is read yet.

        Args:
            tokenizer: the embedder's, without padding and truncation.
        """
        self._tokenizer = tokenizer
        self._read_known: ReadWord = lru_cache(_MOST_KEPT)(self._read_whole)

    def read(self, text: str) -> tuple[list[int], TokenOffsets]:
        """What the tokenizer gives for a text.

        Returns:
            Ids, and the signs of the text that each stands for; without the frame's own.
        """
        if not text.isascii():
            return self._read_whole(text)
        ids: list[int] = []
        offsets: TokenOffsets = []
        for match in _WORD.finditer(text):
            word = match.group()
            read, spans = self._read_known(word) if len(word) <= _LONGEST_KEPT else self._read_whole(word)
            ids += read
            at = match.start()
            if len(spans) == 1:
                offsets.append((at + spans[0][0], at + spans[0][1]))
            else:
                offsets += [(at + start, at + end) for start, end in spans]
        return ids, offsets

    def _read_whole(self, text: str) -> tuple[list[int], TokenOffsets]:
        found = self._tokenizer.encode(text, add_special_tokens=False)
        return found.ids, found.offsets


@dataclass(frozen=True, eq=False)
class SharedEncoder:
    """The embedder's tokenizer and its int8 word vectors: one in a process, for all models that read by them.

    Attributes:
        words: the word vectors, (words, width), int8 with `scale` and `zero`.
        tokenizer: without padding and truncation; `word_tokens` reads by it.
    """

    words: NDArray[np.uint8]
    scale: np.float32
    zero: np.float32
    tokenizer: Any
    word_tokens: WordTokens

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
        words, width, offset = int(place["words"]), int(place["width"]), int(place["offset"])
        key = digests["model.onnx"], digests["tokenizer.json"], words, width, offset, place["scale"], place["zero"]
        with _sharing:
            found = _shared.get(key)
            if found is None:
                found = _shared[key] = cls._read(model, place, digests)
            return found

    @classmethod
    def _read(cls, model: ModelFiles, place: Mapping[str, Any], digests: Mapping[str, str]) -> SharedEncoder:
        encoder = model.read_encoder("model.onnx", digests["model.onnx"])
        names = model.read_encoder("tokenizer.json", digests["tokenizer.json"])
        words, width, offset = int(place["words"]), int(place["width"]), int(place["offset"])
        if offset + words * width > len(encoder):
            raise model.unavailable("its manifest is incomplete")
        # Copied, so that the other half of the file can be let go.
        table = np.frombuffer(encoder, np.uint8, words * width, offset).reshape(words, width).copy()
        tokenizer = _share_tokenizer(names)
        scale, zero = np.float32(place["scale"]), np.float32(place["zero"])
        return cls(table, scale, zero, tokenizer, WordTokens(tokenizer))

    def vectors(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        """The word vectors of tokens, shape (len(ids), width)."""
        found = self.words[ids].astype(np.float32)
        found -= self.zero
        found *= self.scale
        return found


_shared: WeakValueDictionary[tuple[object, ...], SharedEncoder] = WeakValueDictionary()
_sharing_tokenizers = threading.Lock()  # guards _tokenizers
_sharing = threading.Lock()  # guards _shared; who waits wants the same 12 MB, which one of them reads


_tokenizers: dict[bytes, Any] = {}


def _share_tokenizer(data: bytes) -> Any:
    """As `_open_tokenizer`, once for each file: the embedder, the models beside it and the estimate read by the same.

    It takes longer to read than a question to embed. Nobody may change what is shared.
    """
    digest = hashlib.sha256(data).digest()
    with _sharing_tokenizers:
        found = _tokenizers.get(digest)
        if found is None:
            found = _tokenizers[digest] = _open_tokenizer(data)
        return found


def _open_tokenizer(data: bytes) -> Any:
    """A tokenizer that neither pads nor cuts; the published file does both."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_buffer(data)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def runtime_faults() -> tuple[type[Exception], ...]:
    """The runtime's own errors; they share no base but Exception."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    return tuple(v for v in vars(state).values() if isinstance(v, type) and issubclass(v, Exception))


_ROLE = "search model"
# 256 tokens are rarely more than 1,500 characters. The cut bounds the tokenizer's work on a text of many megabytes.
_MAX_CHARS = 16_384


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

    def __init__(self, folder: Traversable | None = None, *, threads: int = 1) -> None:
        """Load the model and check it against its manifest.

        Args:
            folder: with manifest.json, model.onnx and tokenizer.json; None for the bundled one.
            threads: processor threads for one text, at least 1.

        Raises:
            EnvironmentFaultError: E3001 if a file is missing or is not the one the manifest names, or the runtime
                cannot load it.
        """
        model = ModelFiles(bundled_model() if folder is None else folder, _ROLE)
        manifest = _read_manifest(model)
        self._name: str = manifest["name"]
        self._dims: int = manifest["dims"]
        digests = manifest["files"]
        tokenizer_bytes = model.read("tokenizer.json", digests["tokenizer.json"])
        self._version = _encoder_version(manifest)
        self._max_tokens: int = manifest["max_tokens"]
        self._tokenizer = _share_tokenizer(tokenizer_bytes)
        self._faults = runtime_faults()
        self._session = model.open_session("model.onnx", digests["model.onnx"], max(1, threads))

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

        Returns:
            A unit vector, shape (384,).

        Raises:
            LociError: E3002 if the model gave no usable vector.
        """
        tokens = self._tokenizer.encode(replace_surrogates(text[:_MAX_CHARS])).ids
        if len(tokens) > self._max_tokens:
            tokens = [*tokens[: self._max_tokens - 1], tokens[-1]]  # the frame's closing token stays
        ids = np.array([tokens], np.int64)
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


def lazy_embedder() -> LazyEmbedder:
    """The bundled embedder, loaded when the first text comes.

    Returns:
        Its stand-in, which knows name, version and length.

    Raises:
        EnvironmentFaultError: E3001 if the manifest is missing or unreadable.
    """
    manifest = _read_manifest(ModelFiles(bundled_model(), _ROLE))
    return LazyEmbedder(manifest["name"], _encoder_version(manifest), manifest["dims"], MiniLmEmbedder)


def _encoder_version(manifest: dict[str, Any]) -> str:
    seed = f"{manifest['files']['model.onnx']} {manifest['files']['tokenizer.json']} {manifest['max_tokens']}"
    return hashlib.sha256(seed.encode()).hexdigest()[:16]


def _read_manifest(model: ModelFiles) -> dict[str, Any]:
    try:
        manifest = json.loads(model.folder.joinpath("manifest.json").read_bytes())
        names = set(manifest["files"])
        sound = isinstance(manifest["name"], str) and manifest["dims"] > 0 and manifest["max_tokens"] > 2
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise model.unavailable("its manifest is missing or unreadable") from error
    if not sound or not {"model.onnx", "tokenizer.json"} <= names:
        raise model.unavailable("its manifest is incomplete")
    return dict(manifest)


@dataclass(frozen=True, slots=True)
class ModelManifest:
    """What the manifest of a model on the embedder's word vectors says.

    Attributes:
        version: 16 hex digits over every file that the model's answers depend on.
        content: the whole of it.
        place: `PLACE`: where the word vectors lie in the embedder's file.
        digests: SHA-256 of `own` (the model), and of the embedder's `model.onnx` and `tokenizer.json`.
    """

    version: str
    content: Mapping[str, Any]
    place: Mapping[str, Any]
    digests: Mapping[str, str]


def read_manifest(model: ModelFiles, is_sound: Callable[[Mapping[str, Any]], bool]) -> ModelManifest:
    """Read the manifest of a model on the embedder's word vectors.

    Args:
        is_sound: whether its own part is whole; what it raises for a missing or wrong value says that it is not.

    Raises:
        EnvironmentFaultError: E3001 if it is missing, unreadable or incomplete.
    """
    try:
        data = model.folder.joinpath("manifest.json").read_bytes()
        content = json.loads(data)
        place = {name: content["shared"][name] for name in PLACE}
        digests = {name: str(content["shared"][name]) for name in ("model.onnx", "tokenizer.json")}
        digests["own"] = str(content["files"]["model.onnx"])
        is_whole = all(int(place[name]) > 0 for name in ("offset", "words", "width")) and is_sound(content)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise model.unavailable("its manifest is missing or unreadable") from error
    if not is_whole:
        raise model.unavailable("its manifest is incomplete")
    return ModelManifest(hashlib.sha256(data).hexdigest()[:16], content, place, digests)


class SentenceSession:
    """A model's encoder and its one-threaded session, loaded at the first use; several threads may use it at once."""

    def __init__(self, model: ModelFiles) -> None:
        self._model = model
        self._lock = threading.Lock()  # guards _loaded
        self._loaded: tuple[SharedEncoder, Any] | None = None

    def load(self, manifest: ModelManifest) -> tuple[SharedEncoder, Any]:
        """Both; raises as `SharedEncoder.load` and `ModelFiles.open_session` do."""
        with self._lock:
            if self._loaded is None:
                encoder = SharedEncoder.load(self._model, manifest.place, manifest.digests)
                self._loaded = encoder, self._model.open_session("model.onnx", manifest.digests["own"], 1)
            return self._loaded

    def rest(self) -> None:
        """Let go of what was loaded; who is reading goes on, and who reads again loads it again."""
        with self._lock:
            self._loaded = None
