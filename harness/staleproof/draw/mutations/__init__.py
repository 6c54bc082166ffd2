"""What can be done to a primary, from its sample and its schema, and by others to what a controller made of it."""
