"""All verbs of the command line, gathered: importing this registers them on `loci`."""

from app.cli import assistant_hooks, clients, completion, detail, imports, memories, review, sandbox, undo
from app.cli.assistants import chat, mcp, watch_now
from app.cli.options import hoist_json_option
from app.cli.root import loci
from app.cli.vault import administration, browse, erasures, files, seal, sync, watched_folders, wipe

__all__ = [
    "administration", "assistant_hooks", "browse", "chat", "clients", "completion", "detail", "erasures", "files",
    "hoist_json_option", "imports", "loci", "mcp", "memories", "review", "sandbox", "seal", "sync", "undo", "watch_now",
    "watched_folders", "wipe",
]  # fmt: skip

loci.add_command(mcp)
loci.add_command(chat)
loci.add_command(watch_now)
