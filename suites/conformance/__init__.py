"""The conformance suite: one file for each group of requirements. Collected when a controller is named and no path is given."""
