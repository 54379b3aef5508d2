"""Sealing memories under a key of their own, and putting them back among the others.

Must not: make or keep a key, or decide what is worth sealing.
"""
