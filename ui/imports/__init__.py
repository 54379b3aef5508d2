"""Bringing history in: finding exports, rehearsal, choice, progress, taking back.

Must not do: store anything before the person has seen the rehearsal.
"""
