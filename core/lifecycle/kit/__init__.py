"""What every job is made with: its context, its durable row, the clock check, reverted runs.

Must not: know a kind of job.
"""
