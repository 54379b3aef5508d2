"""Render the pictures of the README: every page in both themes; with `--all`, small ones and large text too.

    .venv/bin/python packaging/pictures.py [--all] [FOLDER]

Offscreen, on the sample palace with a fixed clock; pictures are the same every time on the same machine, but for
the memory and the times that health measured.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from app.sample.screenshot import Shot, take_shots  # noqa: E402 - the checkout has to be on the path first
from ui.registry import PAGES  # noqa: E402

FOLDER = ROOT / "docs" / "pictures"


def shots(folder: Path, *, small_too: bool) -> list[Shot]:
    """The set.

    Args:
        folder: where the pictures go.
        small_too: whether 1024x700 and 150 % text are wanted as well.
    """
    pages = [page.id for page in PAGES]
    # The plots of health stand below its figures.
    health = [
        Shot("journal", folder / f"health-{theme}.png", theme, height=1180, query="ask:health")
        for theme in ("light", "dark")
    ]
    both = [Shot(page, folder / f"{page}-{theme}.png", theme) for page in pages for theme in ("light", "dark")]
    small = [Shot(page, folder / f"{page}-small.png", "light", 1024, 700) for page in pages]
    large = [Shot(page, folder / f"{page}-large-text.png", "dark", 1440, 900, 150) for page in pages]
    return [*both, *health, *small, *large] if small_too else [*both, *health]


def main() -> int:
    """Render them."""
    parser = argparse.ArgumentParser(description="Render the pictures of the README.")
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER, help="where they go")
    parser.add_argument("--all", action="store_true", help="small ones and large text too")
    asked = parser.parse_args()
    folder = asked.folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    wanted = shots(folder, small_too=asked.all)
    # The laboratory's picture needs saved questions, which would stand first in the journal: it has its own palace.
    for group in (True, False):
        take_shots([shot for shot in wanted if (shot.page == "recall") is group])
    for shot in wanted:
        print(shot.out.name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
