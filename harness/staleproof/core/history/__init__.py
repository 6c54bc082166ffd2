"""What happened in a trial: entries and what follows from them."""
