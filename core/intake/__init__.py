"""The one write path: validate, deduplicate, classify, gate, act.

Every verb is one transaction with its audit row and its undo step in it
(`core.intake.transaction.unit_of_work`). Must not do: embed (the engine hands vectors in),
start threads, talk to clients.
"""
