"""Images, and pages that are images: OCR."""
