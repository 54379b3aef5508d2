"""The timeline page: how much was said when, what of it, and how a topic came to be what it is.

Must not do: know another page.
"""
