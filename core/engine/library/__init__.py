"""The library table: listing, bulk changes and export, for the owner and for clients.

Must not: search by meaning; `core.recall` does.
"""
