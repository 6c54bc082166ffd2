"""The timeline of a trial: what was true beside what the controller had been shown."""
