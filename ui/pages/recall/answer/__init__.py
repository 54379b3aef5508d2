"""The answer: its ranked list with reasons, its stages, why a memory did not come.

Must not do: rank; the order and its reasons come from the engine.
"""
