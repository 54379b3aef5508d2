"""What every method is made of: its entry in the table, its parameters, the schema of its answer.

Must not: know a method, or trust what a request says about its sender.
"""
