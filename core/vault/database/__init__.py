"""The encrypted database: connections, pragmas, migrations, transactions, row images, read pool.

Must not: know what a memory is.
"""
