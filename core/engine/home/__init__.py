"""The files of a home while no vault is open: keys, window options, and the doctor's look at the installation.

Must not: open the vault.
"""
