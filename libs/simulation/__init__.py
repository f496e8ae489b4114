"""Whole matches of bots on the pure engine, without any I/O while they are played.

`playing.run_match` plays one, `simulating.simulate` many. Everything follows from one number, the
simulation's seed: ids, times, chance, and so every record and every hash.
"""
