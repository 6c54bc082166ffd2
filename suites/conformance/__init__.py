"""The conformance suite: every scenario, family by family. Collected when a controller is named and no path is given."""
