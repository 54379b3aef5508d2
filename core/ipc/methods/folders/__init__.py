"""The owner's methods on folders that other programs write into: that of the person's devices, and watched ones.

Must not: answer a client.
"""
