"""Code that every process shares.

Layers, top to bottom: simulation and scenarios; wire and bots; rules; kernel. A layer imports those
below it and none above. `libs.verify` stands alone: it shares no code with what it verifies.
"""
