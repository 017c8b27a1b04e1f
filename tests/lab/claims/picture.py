"""How a client's last rows look with our line, for the pages."""

import re

from claims.claim import settled
from rig.run import Run
from rig.terminal import wait

PROMPT = "Where is the cart's total computed?"
STEPS = [{"run": "python3 lines.py 24000 1"}, {"say": "In src/cart.rs, in the function total."}]
ROWS, COLUMNS = 8, 110
LINE = re.compile(r"of [\d.]+[kM] (trigger|window)")


def picture(client, binary):
    """Returns the last rows of the screen after a turn, shortened."""
    with Run(client, binary, client.small, width=COLUMNS) as run:
        run.ctxgauge("setup", client.agent, "--write")
        run.open()
        run.provider.expect(STEPS)
        run.enter(PROMPT)
        wait(lambda: [one for one in run.provider.of() if one.ends_turn], 120, "the end of the turn")
        screen = settled(run.screen, lambda it: LINE.search(it) and " known" in it, 30)
    rows = [row[:COLUMNS].rstrip() for row in screen.splitlines() if row.strip()]
    return "\n".join(rows[-ROWS:])
