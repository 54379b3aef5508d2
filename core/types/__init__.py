"""Shared words: ids, enumerations and frozen values that cross room borders.

Must not do: any I/O, any policy. Imports nothing of Loci.
"""
