"""The queue: what waits to be decided, and what was.

Must not do: decide an item.
"""
