"""What the parts of the page share: words, marks, grants to tick, lines and their list.

Must not do: ask the engine, or know a view.
"""
