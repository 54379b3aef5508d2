"""How the vault and the machine are: figures, and sentences about what is wrong and what to do.

Must not: repair anything, or name a memory.
"""
