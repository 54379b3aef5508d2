"""Pictures: what they say of themselves, and a small one of each that is attached.

Must not do: tell what is on a picture, or read where it was taken.
"""
