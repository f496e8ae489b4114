"""Scenario files: a scripted situation on the real rules engine, and what must come of it.

`files` reads a file, `scenario` says what may stand in one, `setting` makes its match, `running`
plays its steps, and `capture` writes one from a match that was recorded.
"""
