"""Phrases of time in a question, as days: a small grammar over tokens, its words in `resources/query/time.json`.

From the ground up: `tokens` (words with places), `spans` (calendar arithmetic), `atoms` (numbers, units, dates),
`relative` ("last week", "three days ago"), `phrases` (slices, anchors, ranges), `plausibility` (what only
looks like a time) and `finder`, which reads a question. Must not do: ask for the present, or raise at any text.
"""
