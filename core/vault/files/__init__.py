"""The files of a home: names, modes, lock, reserve, keys as bytes, and the audit of the write-ahead log.

Must not: open the database.
"""
