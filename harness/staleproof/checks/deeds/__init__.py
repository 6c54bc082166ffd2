"""What the controller did, seen in one history alone: whether a reference did the like is for `but_for` to say."""
