"""The journal's tabs of jobs: what runs, waits and ran, what the next run would do; and starting it.

Must not do: decide what is due; the engine does.
"""
