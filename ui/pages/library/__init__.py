"""The library: a table of everything, searched, filtered, chosen from and changed.

Must not do: know another page or the shell.
"""
