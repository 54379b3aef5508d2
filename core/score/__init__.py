"""Pure formulas: trust, decay, the ranking of recall and its numbers, the packing of a context, topics, the floor plan.

Must not do: any I/O, read a clock, know rows or SQL. Every weight and threshold of recall lives in
`core.score.profile`.
"""
