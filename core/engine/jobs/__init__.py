"""Scheduled work: what is due, one batch at a time, previews and the facade's groups for it.

Must not: decide what a job does to memories; `core.lifecycle` does.
"""
