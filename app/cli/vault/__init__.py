"""The verbs on the vault and what runs in it: its making, keys, backups, jobs, health. Must not do: load the engine."""
