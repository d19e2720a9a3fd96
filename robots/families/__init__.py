"""Parametric robots, one file per family: textbook and random `trees`, and the robots of the papers."""
