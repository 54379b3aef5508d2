"""Bytes of strangers: files, archives, encodings, strict JSON, with limits before anything is unpacked.

Must not do: know a format.
"""
