"""Pure scoring: trust, rank fusion, bounded side signals, the bar below which recall keeps silent, and their numbers.

Must not do: any I/O, read a clock, know rows or SQL. Every weight and threshold lives in `core.score.ranking.profile`.
"""
