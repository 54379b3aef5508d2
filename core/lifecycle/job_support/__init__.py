"""What every job is made with: its context, its durable row, the clock check, and what a person took back of runs.

Must not do: know a kind of job.
"""
