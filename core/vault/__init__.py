"""The vault: the one encrypted database file and all that stands beside it.

For: the files of a home and their modes, the lock that gives the vault one owner, opening in
the one order that passed the kill tests, migrations, the writer's transaction and the read
pool, the head that tells an older copy, the audit's hash chain, verification, backup, restore.

Must not do: know what a memory means, open key slots (raw sub-keys come as arguments), start
threads, ask a person. Python never opens `vault.db`, `vault.db-wal` or `vault.db-shm` while a
connection of this process is open: closing such a file would drop SQLite's own locks.
"""
