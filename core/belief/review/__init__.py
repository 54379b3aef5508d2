"""The review queue, read side: items in order of harm, both sides, dependents, and the sentences about them.

Must not: decide an item.
"""
