"""Robots from files: `urdf`, `robotfile` (.toml), `dh` tables, and `example_models`, those of
example-robot-data; `reading` reads untrusted files."""
