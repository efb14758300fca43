"""Files and frames as row blocks with names."""
