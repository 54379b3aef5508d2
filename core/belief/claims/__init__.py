"""Claims as rows: whose word they rest on, what contradicts them, what a model proposed, how texts are merged.

Must not: read a claim out of a text; `extract` does.
"""
