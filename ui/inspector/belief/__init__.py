"""How far a memory is believed: claims, trust, verdicts, what rests on it.

Must not do: compute trust or certainty; they come from the engine with their terms.
"""
