"""The views of one client: what it does, what it was given, may do and would see.

Must not do: change a client; what is done stands with the page's actions.
"""
