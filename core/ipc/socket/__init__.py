"""The server: connections, framing, limits, dispatch, pairing, subscriptions. Must not: know what a method does."""
