"""Notes: Obsidian vaults, Markdown folders, boards and their links. Must not: change a byte of a note."""
