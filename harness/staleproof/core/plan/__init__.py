"""What is done in a trial: steps, moves, manifests, and how long is waited."""
