"""Encrypted archives of an open vault, as they are written.

Must not do: keep a passphrase longer than a call, write into Loci's own folder, trust an archive before its last line.
"""
