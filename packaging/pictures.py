"""Render the pictures of the README: every page in both themes, and a few small and large ones.

    .venv/bin/python packaging/pictures.py [FOLDER]

Offscreen, on the sample palace with a fixed clock; pictures are the same every time on the same machine.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from app.shot import Shot, take  # noqa: E402 - the checkout has to be on the path first

PAGES = ("palace", "graph", "library", "journal", "settings")
FOLDER = ROOT / "docs" / "pictures"


def shots(folder: Path) -> list[Shot]:
    """The whole set.

    Args:
        folder: where the pictures go.
    """
    both = [Shot(page, folder / f"{page}-{theme}.png", theme) for page in PAGES for theme in ("light", "dark")]
    small = [Shot(page, folder / f"{page}-small.png", "light", 1024, 700) for page in PAGES]
    large = [Shot(page, folder / f"{page}-large-text.png", "dark", 1440, 900, 150) for page in PAGES]
    return [*both, *small, *large]


def main() -> int:
    """Render them."""
    folder = Path(sys.argv[1]).absolute() if len(sys.argv) > 1 else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    wanted = shots(folder)
    take(wanted)
    for shot in wanted:
        print(shot.out.name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
