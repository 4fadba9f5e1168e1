"""OpenDocument: the package, its body and lists; text documents."""
