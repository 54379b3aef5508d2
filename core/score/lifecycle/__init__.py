"""Formulas of the lifecycle: strength, decay, rehearsal, clusters, rule maturity. Must not: do any I/O."""
