"""Prints log lines of about as many characters as the first argument says; the second one is a seed."""

import random
import sys

wanted = int(sys.argv[1])
draw = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
printed = 0
while printed < wanted:
    day, hour, minute = draw.randint(1, 28), draw.randint(0, 23), draw.randint(0, 59)
    action = draw.choice(["opened", "closed", "retried", "refused"])
    line = f"2026-10-{day:02} {hour:02}:{minute:02} worker-{draw.randint(1, 16)} {action} shelf_{draw.randint(1, 400)}"
    line += f" after {draw.randint(1, 9000)} ms"
    print(line)
    printed += len(line) + 1
