"""A question to hits (`locate`), and the exact reading of lines (`read`)."""
