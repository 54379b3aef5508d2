"""Texts to unit vectors, on this machine, without a network.

The built-in embedder is a bundled model; others follow the same protocol. Must
not do: know the vault or the index, cache texts, write files, or start threads.
"""
