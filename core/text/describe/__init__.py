"""What can be read off a text at once: feeling, metadata, technologies, steps, names for rooms.

Must not: know the vault.
"""
