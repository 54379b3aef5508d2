"""All verbs of the command line, gathered: importing this registers them on `loci`."""

from app.cli import clients, completion, detail, imports, memories, review, sandbox, undo, watching
from app.cli.assistants import chat, mcp
from app.cli.options import hoist_json_option
from app.cli.root import loci
from app.cli.vault import administration, browse, erasures, seal, sync

__all__ = [
    "administration", "browse", "chat", "clients", "completion", "detail", "erasures", "hoist_json_option", "imports",
    "loci", "mcp", "memories", "review", "sandbox", "seal", "sync", "undo", "watching",
]  # fmt: skip

loci.add_command(mcp)
loci.add_command(chat)
