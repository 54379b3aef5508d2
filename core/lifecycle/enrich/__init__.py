"""Reading memories after they are stored: metadata, entities, vectors, moving to another embedding model.

Must not: change what a memory says.
"""
