"""Decay: fading, archiving, erasing from the archive where the owner chose it, and who is protected.

Must not: delete what was not previewed.
"""
