"""Recall on somebody's behalf: questions answered and noted, receipts, probes and trials of other weights.

Must not: change a memory.
"""
