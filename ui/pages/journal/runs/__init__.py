"""Runs of the lifecycle: the next one, what ran and waits, what replay proposes.

Must not do: change a memory itself; runs, undo and proposals are the engine's.
"""
