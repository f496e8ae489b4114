"""Makes the pages of the documentation that say what the protos and the code say: `make docs`."""
