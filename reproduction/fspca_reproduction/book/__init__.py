"""What the chapters measure themselves."""
