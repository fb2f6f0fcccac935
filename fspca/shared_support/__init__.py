"""One support shared by all components."""
