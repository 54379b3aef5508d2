"""Pairing: the code, who asks, how it ended; tokens made by hand, and denied names.

Must not do: keep a code or a token longer than it is shown.
"""
