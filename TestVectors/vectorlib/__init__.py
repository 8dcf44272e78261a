"""Independent implementation of the fetchres formats, used only to make test vectors."""
