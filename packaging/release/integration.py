"""What a desktop and a shell find Loci by (menu entry, icon, types of files, manual page, completions), and the manual.

Must not do: know which package it goes into; every one of them has a prefix with a `share` folder.
"""

from __future__ import annotations

import gzip
import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

LINUX = Path(__file__).parent / "linux"
ICON = LINUX / "loci.svg"
ENTRY = LINUX / "loci.desktop"
COPIES = {
    "share/applications/loci.desktop": ENTRY,
    "share/icons/hicolor/scalable/apps/loci.svg": ICON,
    "share/mime/packages/loci.xml": LINUX / "loci.xml",
}
COMPLETIONS = {
    "bash": "share/bash-completion/completions/loci",
    "zsh": "share/zsh/site-functions/_loci",
    "fish": "share/fish/vendor_completions.d/loci.fish",
}
MAN_PAGE = "share/man/man1/loci.1"
MANUAL = "share/doc/loci-palace/manual"
BOOK = Path(__file__).parent / "mkdocs.yml"
_WRITE = """
import json, sys
sys.path[:0] = sys.argv[1:3]
from importlib.metadata import version
from app.cli.commands import loci
from app.cli.completion import list_verbs, write_bash_script, write_fish_script, write_zsh_script
from man_page import write_man_page
verbs = tuple(list_verbs(loci))
made = {"bash": write_bash_script(verbs), "zsh": write_zsh_script(verbs), "fish": write_fish_script(verbs)}
json.dump({**made, "man": write_man_page(loci, version("loci-palace"))}, sys.stdout)
"""


def write_generated(python: Path, root: Path) -> Mapping[str, str]:
    """The manual page and the completions, made of the commands as they are.

    Args:
        python: the interpreter of an environment that has Loci's libraries.
        root: the checkout.

    Returns:
        Path below a prefix to text.
    """
    done = subprocess.run(
        [str(python), "-I", "-c", _WRITE, str(root), str(LINUX.parent)], capture_output=True, text=True, check=True
    )
    made = json.loads(done.stdout)
    return {MAN_PAGE: made["man"], **{place: made[shell] for shell, place in COMPLETIONS.items()}}


def build_manual(python: Path, folder: Path) -> Path:
    """Make the pages of the manual.

    Args:
        python: the interpreter of an environment that has what `manual.lock` names.
        folder: for the pages; what is in it goes.

    Returns:
        The folder.
    """
    options = ("--strict", "--quiet", "--config-file", str(BOOK), "--site-dir", str(folder))
    subprocess.run([str(python), "-I", "-m", "mkdocs", "build", *options], check=True)
    return folder


def list_files(generated: Mapping[str, str], manual: Path | None = None) -> dict[str, bytes]:
    """Every file of the integration.

    Args:
        generated: from `write_generated`.
        manual: from `build_manual`; None leaves it out.

    Returns:
        Path below a prefix to content.
    """
    files = {place: source.read_bytes() for place, source in COPIES.items()}
    files |= {place: text.encode() for place, text in generated.items()}
    for path in sorted(manual.rglob("*")) if manual is not None else ():
        if path.is_file():
            files[f"{MANUAL}/{path.relative_to(manual or path).as_posix()}"] = path.read_bytes()
    return files


def lay_files(files: Mapping[str, bytes], prefix: Path, *, packed_man: bool) -> None:
    """Write them below a prefix.

    Args:
        files: from `list_files`.
        prefix: as `/usr` of a package's tree.
        packed_man: whether the manual page is compressed, as Debian wants it.
    """
    for place, content in files.items():
        is_packed = packed_man and place == MAN_PAGE
        path = prefix / (f"{place}.gz" if is_packed else place)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(content, mtime=0) if is_packed else content)
        path.chmod(0o644)
