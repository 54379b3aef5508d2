"""The verbs on memories: store, ask, list, show, correct, erase, take back. Must not do: open the vault itself."""
