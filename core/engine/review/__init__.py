"""The facade's group for the review queue, and the chores that keep it short.

Must not: decide for the person, except by a rule they made.
"""
