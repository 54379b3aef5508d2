"""Finding memories: from a question and a scope to candidates, an order, an answer and a context.

`pipeline` runs the steps of a question in turn; `browse` reads without a question. Everything here is a pure function
of a vault snapshot, the index, a query vector and the time. Must not do: write, embed, count accesses, or keep a
receipt (the engine does).
"""
