"""The steps a memory can take between statuses, and the review items opened on the way.

Must not: choose a step; a plan or a decision does.
"""
