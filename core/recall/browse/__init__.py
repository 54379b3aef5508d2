"""Reading without a question: library search, lists, facets, timeline, evolution, graph.

Must not: rank by meaning.
"""
