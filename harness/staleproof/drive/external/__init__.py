"""External systems: real ones, started for a trial, that others change behind the controller's back, stop and slow down."""
