"""The encrypted archive: a file that holds a whole vault under a passphrase of its own.

For: the container (header, key, encrypted chunks) and the records in it (tables, rows, the final count and digest).
docs/archive-format.md describes both for other programs. Must not do: know what a table means, touch a vault, trust a
number in a header before it is checked.
"""
