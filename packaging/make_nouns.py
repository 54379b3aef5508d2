"""Write resources/lexicon/nouns_en.txt: which common English words are nouns, and which of them are verbs too.

Run by hand, with lemminflect beside the standard library (its word lists come from the SPECIALIST lexicon of the US
National Library of Medicine, which is free to use):

    pip install lemminflect==0.2.3
    python packaging/make_nouns.py

Kept are the words that stand whole in the vocabulary of the built-in embedder or in the project's own texts: some
eighteen thousand common ones.
Must not do: be needed by anything but whoever changes the list.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VOCABULARY = ROOT / "resources" / "model" / "minilm" / "tokenizer.json"
OWN_WORDS = ROOT / "resources" / "enrich" / "plain_words.txt"
VERBS = ROOT / "resources" / "talk" / "verbs.json"
OUT = ROOT / "resources" / "lexicon" / "nouns_en.txt"
_WIDTH = 118
_SHORTEST = 3
Lemmas = Callable[[str], Mapping[str, tuple[str, ...]]]


def main() -> None:
    """Write the file."""
    lemmas: Lemmas = importlib.import_module("lemminflect").getAllLemmas
    names = ("nouns", "nouns and verbs", "nouns and adjectives", "adjectives", "other words")
    parts: dict[str, list[str]] = {name: [] for name in names}
    for word in _words():
        found = lemmas(word)
        if "NOUN" in found:
            kind = "nouns and adjectives" if "ADJ" in found else "nouns and verbs" if "VERB" in found else "nouns"
            parts[kind].append(word)
        elif found and "PROPN" not in found:
            parts["adjectives" if "ADJ" in found else "other words"].append(word)
    lines = ["# Common English words by what they may be; made by packaging/make_nouns.py from the SPECIALIST lexicon."]
    for name, words in parts.items():
        lines += [f"[{name}]", *_wrapped(words)]
    OUT.write_text("\n".join(lines) + "\n", "utf-8")
    print({name: len(words) for name, words in parts.items()})


def _words() -> list[str]:
    vocabulary = json.loads(VOCABULARY.read_text("utf-8"))["model"]["vocab"]
    own = [line for line in OWN_WORDS.read_text("utf-8").splitlines() if not line.startswith("#")]
    verbs = json.loads(VERBS.read_text("utf-8"))["regular"]
    words = {*vocabulary, *" ".join(own).split(), *verbs.split()}
    return sorted(word for word in words if word.isascii() and word.isalpha() and len(word) >= _SHORTEST)


def _wrapped(words: list[str]) -> list[str]:
    lines = [""]
    for word in words:
        if len(lines[-1]) + len(word) >= _WIDTH:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


if __name__ == "__main__":
    main()
