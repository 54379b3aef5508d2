"""From an order to an answer: the pipeline, abstention, client quotas, session boost, the packed context.

Must not: exceed the budget, or cut inside a sentence.
"""
