"""Benchmark problems with published or exact answers, one file each; `problem` says what a problem is.

`registry` finds them, ours and those of other packages; `sweep` runs one by one method, `running` all of them.
"""
