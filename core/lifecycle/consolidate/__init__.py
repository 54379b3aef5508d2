"""Consolidation: near pairs, duplicates, contradictions and digests, planned first and carried out plan by plan.

Must not: merge what the gate would not.
"""
