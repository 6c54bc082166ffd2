"""Values and decisions: no I/O, no clock, no dice. Time is an argument; chance was spent when the plan was drawn."""
