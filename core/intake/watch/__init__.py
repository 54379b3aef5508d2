"""What comes of watched folders, as the vault keeps it: the folders, their files, what each said, and what was done.

Must not: open a file, know a format, or decide what becomes of a memory whose file vanished.
"""
