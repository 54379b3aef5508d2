"""Readers of values, one for each kind of thing claimed. A reader that is not sure takes nothing.

Must not: decide whose claim it is.
"""
