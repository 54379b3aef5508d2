"""Write resources/enrich/plain_words.txt: the words that the project's own sentences write small.

python packaging/training/make_plain_words.py. A word that people write small in the middle of a sentence is no name
where it begins one ("Paid.", "Poor Biscuit"). Read are the training texts of this folder; a word counts that stands
small in them at least twice, or once and never with a capital inside a sentence. Must not do: read a held-out set, or
anything that the project did not write.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
OUT = HERE.parents[1] / "resources" / "enrich" / "plain_words.txt"
_WORD = re.compile(r"[A-Za-z][a-z]+(?:['’][a-z]+)?")
_INSIDE = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+")
_WIDTH = 118


def main() -> None:
    """Write the file."""
    small: Counter[str] = Counter()
    capital: Counter[str] = Counter()
    for text in _texts():
        small.update(word for word in _WORD.findall(text) if word.islower() and "'" not in word and "’" not in word)
        capital.update(word.lower() for word in _INSIDE.findall(text))
    words = sorted(word for word, count in small.items() if len(word) > 2 and count > 1 and count > 2 * capital[word])
    lines = ["# Words that the project's own sentences write small; made by packaging/training/make_plain_words.py."]
    line = ""
    for word in words:
        if len(line) + len(word) >= _WIDTH:
            lines.append(line)
            line = ""
        line = f"{line} {word}".strip()
    OUT.write_text("\n".join((*lines, line)) + "\n", "utf-8")
    print(f"{len(words)} words")


def _texts() -> Iterator[str]:
    for file in sorted(HERE.rglob("*.jsonl")):
        for line in file.read_text("utf-8").splitlines():
            yield from _strings(json.loads(line))


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _strings(one)
    elif isinstance(value, list):
        for one in value:
            yield from _strings(one)


if __name__ == "__main__":
    main()
