"""What a recall returns: results, their reasons in sentences, and the form a receipt keeps.

Must not: hold text in a receipt.
"""
