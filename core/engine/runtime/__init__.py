"""What lives while a vault is open: threads, the open vault, vector space, settings, logs of reads, progress.

Must not: know the facade or any group of it.
"""
