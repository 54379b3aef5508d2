"""All verbs of the command line, gathered: importing this registers them on `loci`."""

from app.cli import clients, completion, detail, imports, memories, review, sandbox, undo, vault
from app.cli.assistants import chat, mcp
from app.cli.options import hoisted
from app.cli.root import loci

__all__ = [
    "chat", "clients", "completion", "detail", "hoisted", "imports", "loci", "mcp", "memories", "review", "sandbox",
    "undo", "vault",
]  # fmt: skip

loci.add_command(mcp)
loci.add_command(chat)
