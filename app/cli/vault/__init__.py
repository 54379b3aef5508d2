"""The command line's verbs that erase for good, certify it, and look into copies of the vault.

Must not do: erase without `--yes` where nobody can be asked; write into a copy that is looked into.
"""
