"""What is shown before the palace: first run, unlocking, the recovery code.

Must not do: keep a secret longer than the call that needs it.
"""
