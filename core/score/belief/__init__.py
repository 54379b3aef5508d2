"""Formulas of belief: trust, confidence of claims, chance, harm, quality. Must not: do any I/O."""
