"""Keys, key slots and the small cryptographic tools of Loci.

For: the random root key and the sub-keys made from it, `vault.keys` with its slots
(passphrase, recovery code, keyring), sealing of bytes, the proofs of the socket's
handshake, hardening of the process, and files that change whole or not at all.

Must not do: open `vault.db`, `vault.db-wal` or `vault.db-shm` (an ordinary open and close drops
SQLite's locks), decide when a vault is locked or unlocked, start threads, log, or put a
secret into a message. Whoever has the root key has everything: the sub-keys only
keep one leaked sub-key from opening the rest. Python cannot wipe `str` and `bytes`, so
this room keeps few copies; it does not promise none.
"""
