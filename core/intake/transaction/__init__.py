"""What every verb stands on: the unit of work, validation, idempotency, tombstones, quotas.

Must not: decide what becomes of a memory.
"""
