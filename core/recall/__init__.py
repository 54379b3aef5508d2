"""Finding memories: candidates, scope, fusion, signals, abstention, and the reasons.

Everything here is a pure function of a vault snapshot, the index, a query vector and the time. Must not do: write,
embed, count accesses, or keep a receipt (the engine does).
"""
