"""What every importer yields, and shared steps towards it: rows, blocks, front matter, limits.

Must not: open a file.
"""
