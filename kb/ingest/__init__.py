"""A document in (`document`), and a whole store in (`plan`, `sync`, `report`)."""
