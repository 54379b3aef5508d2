"""Entities: the named things of the vault, their other names, and where memories mention them.

What several spaces have of one name is joined when the owner reads it (`across_spaces`), and written nowhere. Must not
do: resolve a pronoun (X48), merge two entities unasked, or make a name of a word of everyday talk.
"""
