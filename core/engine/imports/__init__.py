"""Imports as verbs: found, rehearsed, run, resumed, compared with what stands, taken back; archives among them.

Must not do: know a file format (`core.importers` does), or write in a dry run.
"""
