"""The Ask page: a conversation with a local model about what is remembered, each answer with its sources.

Must not do: know another page, or keep anything unasked.
"""
