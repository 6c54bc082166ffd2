"""Tests that come with staleproof."""
