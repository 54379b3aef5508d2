"""How a memory lives: its gauges, its permanence, how it serves, to whom it was given.

Must not do: compute a gauge; it comes from the engine with its curve.
"""
