"""What a life of the controller knew: one object for each life, and a view of it before any position."""
