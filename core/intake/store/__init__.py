"""The store path: from a request to a plan to rows, for one text or an import batch.

Must not: wait for a model server.
"""
