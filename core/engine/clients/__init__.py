"""Clients for their owner: cards, terms, activity, sessions, change events, and undoing what a client did.

Must not: speak on the socket; `core.ipc` does.
"""
