"""The facade's group for rules and procedures: how they served, and what that makes of them.

Must not: decide the maturity of a rule; `core.score` does.
"""
