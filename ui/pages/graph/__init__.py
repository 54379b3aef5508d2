"""The Graph page: what lies round one memory, and the whole vault."""
