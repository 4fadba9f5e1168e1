"""Word: docx, and doc by other programs."""
