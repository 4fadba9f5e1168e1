"""What a person runs and reads."""
