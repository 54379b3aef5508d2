"""The verbs on what waits for the person's decision. Must not do: decide anything."""
