"""All verbs of the command line, gathered: importing this registers them on `loci`."""

from app.cli import (
    bench,
    clients,
    completion,
    conflicts,
    demo,
    doctor,
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
from app.cli.chat import chat
from app.cli.mcp import mcp
from app.cli.options import hoisted
from app.cli.root import loci

__all__ = [
    "bench", "chat", "clients", "completion", "conflicts", "demo", "doctor", "erasing", "hoisted", "imports", "jobs",
    "loci", "mcp", "memories", "practice", "shot", "showing", "undoing", "vault",
]  # fmt: skip

loci.add_command(mcp)
loci.add_command(chat)
