"""Where clients are installed, and how they are run alone with the provider."""
