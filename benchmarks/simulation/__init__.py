"""Robots in motion: `simulate` through any method with scipy, `dormand_prince` compiled, `stops` with impacts;
`recording` and `drawing` keep a motion as plain data that a page can show."""
