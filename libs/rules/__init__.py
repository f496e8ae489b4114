"""The rules of the game as pure functions.

`decide` turns a command into events or a refusal, `evolve` and `apply` turn events into state.
Nothing here reads a clock, draws by chance on its own or does I/O: time comes in beside a command,
chance as the match's own draws.
"""
