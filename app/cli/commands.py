"""All verbs of the command line, gathered: importing this registers them on `loci`."""

from app.cli import (
    bench,
    clients,
    conflicts,
    demo,
    erasing,
    imports,
    jobs,
    memories,
    practice,
    shot,
    showing,
    undoing,
    vault,
)
from app.cli.root import hoisted, loci

__all__ = [
    "bench", "clients", "conflicts", "demo", "erasing", "hoisted", "imports", "jobs", "loci", "memories",
    "practice", "shot", "showing", "undoing", "vault",
]  # fmt: skip
