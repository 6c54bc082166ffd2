"""What a run leaves on disk, and what its workers share there."""
