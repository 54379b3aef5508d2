"""The palace: the floor plan with its wings, rooms and loci, and the time slider below it.

Must not do: decide where something is; that is the engine's.
"""
