"""The Graph page: what lies round one memory, and the whole vault.

Must not do: lay anything out itself; places come from the engine in steps.
"""
