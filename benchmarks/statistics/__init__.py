"""Error rates by simulation."""
