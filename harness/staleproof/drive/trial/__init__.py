"""One trial: the environment that serves many of them, the bus that all entries go over, and the run of a plan from its first step
to the recorded history."""
