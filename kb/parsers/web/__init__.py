"""HTML, and what is made of it: EPUB, e-mail."""
