"""Generic rows: JSONL, CSV and TSV. Must not: guess beyond the documented columns."""
