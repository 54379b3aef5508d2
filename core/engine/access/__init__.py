"""Who may do what, and what a reader was given: authority, recall on somebody's behalf, receipts.

Must not: change a memory.
"""
