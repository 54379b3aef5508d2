"""What every verb stands on: the unit of work, admission of texts, sources and trust.

Must not: decide what becomes of a memory.
"""
