"""Nearest vectors, derived from the vault and kept in memory.

Exact search below some thousand vectors, an HNSW graph above; the same answers' shape, scopes that never
under-fill, and an encrypted snapshot so that a start need not build anew. Must not do: know texts, keys or the
vault's tables, write anything to disk in the clear, or start threads.
"""
