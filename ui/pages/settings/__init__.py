"""The settings: options of the window and of the vault, its keys, and what Loci is made of.

Must not do: know a single option; they come as rows.
"""
