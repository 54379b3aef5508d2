"""The verbs on clients: pairing, grants, what each of them did. Must not do: hold a token longer than it is shown."""
