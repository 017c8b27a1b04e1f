"""What ctxgauge says of runs, against what the provider counted."""
