"""All verbs of the command line, gathered: importing this registers them on `loci`."""

from app.cli import completion, imports, sandbox
from app.cli.chat import chat
from app.cli.clients import clients
from app.cli.mcp import mcp
from app.cli.memories import detail, erasure, memories, practice, undo
from app.cli.options import hoisted
from app.cli.review import conflicts
from app.cli.root import loci
from app.cli.vault import doctor, jobs, vault

__all__ = [
    "chat", "clients", "completion", "conflicts", "detail", "doctor", "erasure", "hoisted", "imports", "jobs", "loci",
    "mcp", "memories", "practice", "sandbox", "undo", "vault",
]  # fmt: skip

loci.add_command(mcp)
loci.add_command(chat)
