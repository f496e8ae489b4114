"""The edge: who calls, how often, and to which engine; it keeps no state and no schema."""
