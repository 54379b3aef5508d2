"""Entities: the named things of the vault, their other names, and where memories mention them.

Must not do: resolve a pronoun (X48), join two entities unasked, or make a name of a word of everyday talk.
"""
