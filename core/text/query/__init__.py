"""Understanding a question: time, intent, names, weight of words, the library's search syntax.

Must not: know the vault.
"""
