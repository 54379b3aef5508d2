"""Watched folders while a vault is open: noticing changes, reading what rested, and what the person may do with them.

Must not: read outside a folder that was named, or decide what becomes of a memory whose file vanished.
"""
