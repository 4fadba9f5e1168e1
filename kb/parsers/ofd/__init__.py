"""OFD, the Chinese standard for fixed-layout documents (GB/T 33190)."""
