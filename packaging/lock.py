"""Make the locks anew from pyproject.toml, build.in, and what a release and the manual are made with.

    python3 packaging/lock.py

For whoever changes a dependency; needs the `uv` command. One lock serves every
platform and Python from 3.11 on. Must not write an address into a lock: it holds
names, versions and hashes, and what is fetched from where is each machine's own matter.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMPILE = [
    *("uv", "pip", "compile", "--quiet", "--universal", "--python-version", "3.11", "--generate-hashes"),
    *("--no-header", "--no-annotate", "--no-emit-index-url", "--no-emit-find-links", "--upgrade"),
]

TOOLS = ("packaging/build", "packaging/release/release", "packaging/release/manual")
"""What is asked for in `.in`, locked in `.lock`: to compile, to release, to make the manual's pages."""


def make(source: str, target: str, *extra: str) -> str | None:
    """Make one lock.

    Args:
        source: what is asked for, relative to the checkout.
        target: the lock, relative to the checkout; replaced only when the new one is sound.
        extra: further arguments for the resolver.

    Returns:
        None, or the sentence that says why nothing was written.
    """
    done = subprocess.run([*COMPILE, *extra, source], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        return done.stderr.strip()
    if "://" in done.stdout or "--hash=" not in done.stdout:
        return f"{target} would hold an address or no hashes: not written."
    (ROOT / target).write_text(done.stdout, encoding="utf-8")
    print(f"{target}: {done.stdout.count('==')} entries")
    return None


def main() -> int:
    """Make all locks; the tools take the versions of the libraries.

    Returns:
        0, or 1 when one of them could not be made.
    """
    if shutil.which("uv") is None:
        print("The locks are made with uv, which is not here; install it with: pip install uv", file=sys.stderr)
        return 1
    trouble = make("pyproject.toml", "requirements.lock", "--extra", "dev")
    for tools in TOOLS:
        trouble = trouble or make(f"{tools}.in", f"{tools}.lock", "--constraint", "requirements.lock")
    if trouble:
        print(trouble, file=sys.stderr)
    return 1 if trouble else 0


if __name__ == "__main__":
    sys.exit(main())
