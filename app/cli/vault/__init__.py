"""The verbs on the vault as a whole: keeping it, sealing, erasing for good with a certificate, looking into copies.

Must not do: erase or seal without `--yes` where nobody can be asked; write into a copy that is looked into.
"""
