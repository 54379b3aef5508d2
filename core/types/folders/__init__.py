"""Folders outside the vault as the engine tells of them: those that are watched, and the one that devices share.

Must not do: hold logic.
"""
