"""What an operator's own manifests say of it, and what a fault-free run showed."""
