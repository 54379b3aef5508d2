"""The facade's group for imports: find, rehearse, run, resume, undo.

Must not: parse a format; `core.importers` does.
"""
