"""The floor plan: arrangement of a new wing, places for new memories, edits by the person.

Must not: move what has a place, unless the person does.
"""
