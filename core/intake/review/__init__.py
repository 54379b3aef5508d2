"""Decisions on review items: who may decide, what each action does, rules that repeat a decision.

Must not: word anything for a person; `core.belief.review` does.
"""
