"""The recall laboratory: trial questions, probes, and what each signal made of a score.

Must not: change how others are answered until a profile is applied.
"""
