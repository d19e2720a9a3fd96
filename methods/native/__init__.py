"""Machine code beside numba's: LLVM IR as text, made into objects, and built-in functions that call it from Python.

`llvm` compiles text and keeps objects on disk, `layout` finds out how this Python and numpy lay out their structs,
`entry` makes the built-in functions from the text of `checked_text` and `handle_text`, each bound to a `table`. Nothing
here imports numba.
"""
