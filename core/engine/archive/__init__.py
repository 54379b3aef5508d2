"""Encrypted archives of an open vault: writing one, and bringing one in.

Must not do: keep a passphrase longer than a call, write into Loci's own folder, trust an archive before its last line.
"""
