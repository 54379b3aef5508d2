"""Changing what stands: edits, restores, relations, outcome reports, and what a local model refines.

Must not: store a new text.
"""
