"""What catalogues of models say: read from packages, compared, and written as one table."""
