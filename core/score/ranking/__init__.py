"""Formulas of recall: fusion, factors, diversity, abstention, activation, packing, profiles. Must not: do any I/O."""
