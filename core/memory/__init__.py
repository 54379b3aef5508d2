"""Memories as rows: reading them as frozen snapshots, writing them with what is derived from them.

Must not do: decide anything (that is `core.intake`), open transactions, or
know who asks.
"""
