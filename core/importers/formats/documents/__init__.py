"""What a person read, marked and wrote as documents.

Must not do: load what a document refers to, or run what is in it.
"""
