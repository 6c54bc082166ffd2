"""What a controller does without faults, and what may be done to it: what plans are derived from."""
