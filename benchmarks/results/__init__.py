"""What a run found: rows, the files they are written to and read from, their comparison. Knows no method."""
