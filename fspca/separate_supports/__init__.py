"""Each component its own support."""
