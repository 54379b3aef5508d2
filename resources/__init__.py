"""Data only: model, vocabularies, patterns, icons, themes, help. Read with importlib.resources.

Must not hold any code: a vocabulary or a pattern that lives here can be read,
checked and changed without touching a rule of the palace.
"""
