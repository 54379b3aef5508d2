"""The way of this process to a vault: the home's keys, an engine that runs or one of its own, the service, a restore.

Must not do: read arguments, print.
"""
