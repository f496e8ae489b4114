"""Bots: strategies that are pure functions of a view and the legal commands.

`STRENGTHS` in `strengths` names them. A bot keeps nothing between two decisions and draws nothing
by chance, so the same table always gets the same answer; what variety there is comes from there.
"""
