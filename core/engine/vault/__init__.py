"""The facade's group for the vault as a whole: create, open, check, back up, history, embedding model.

Must not: read a memory's text.
"""
