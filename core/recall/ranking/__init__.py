"""From candidates to an order: fusion, bounded signals, sources, succession, contested claims.

Must not: drop a candidate without a trace.
"""
