"""Texts for readers: Markdown as words, model text, digests, four lengths, spreadsheet-safe cells.

Must not: invent a word.
"""
