"""Sessions of assistants: what a session has at hand, and what is kept of what was said.

Must not do: search, or call a model.
"""
