"""The page of clients: what each of them may do, did, was given and would see; pairing, pausing, taking back.

Must not do: know another page.
"""
