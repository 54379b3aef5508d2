"""The verbs on the vault as a whole and on what is sealed in it.

Must not: open a vault by themselves; `app.engine` does.
"""
