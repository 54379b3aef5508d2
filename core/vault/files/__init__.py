"""The files of a home: names, modes, lock, reserve, keys as bytes, a restore's renames, and the audit of the log.

Must not: open the database.
"""
