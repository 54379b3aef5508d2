"""Importers of other makers: found by an entry point, loaded only where the person allows it, and kept to the rules.

Must not do: load anything that was not allowed, or let one stand in the place of an importer of Loci's own.
"""
