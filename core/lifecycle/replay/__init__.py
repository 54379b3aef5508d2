"""Replay while nobody is at work: strengthening what is used, proposing relations.

Must not: draw a relation by itself.
"""
