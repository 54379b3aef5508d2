"""Backups: their format, making them, restoring them. Must not: leave anything in the clear on disk."""
