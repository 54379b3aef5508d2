"""Every knob of Loci, declared once: type, bounds, unit, default, sentence.

Must not do: read files or the environment; the engine hands stored values in.
"""
