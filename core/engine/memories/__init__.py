"""The facade's group for memories: store, read, recall, verdicts, erase, and the inspector's views of one memory.

Must not: write a row outside a verb.
"""
