"""Candidates: by words, by vectors, by graph and by time, as columns with rank and score in each list.

Must not: decide which of them answer.
"""
