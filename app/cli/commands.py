"""All verbs of the command line, gathered: importing this registers them on `loci`."""

from app.cli import bench, clients, demo, imports, memories, shot, vault
from app.cli.root import hoisted, loci

__all__ = ["bench", "clients", "demo", "hoisted", "imports", "loci", "memories", "shot", "vault"]
