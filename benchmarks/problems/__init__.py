"""Benchmark problems with published or exact answers, one file each; `problem` says what a problem is."""
