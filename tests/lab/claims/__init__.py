"""What the pages claim of a client: a file for each subject. Each claim is a function that looks in the real client."""

from claims import compaction, hooks, panes, setting_up, status_line

MODULES = [status_line, panes, hooks, compaction, setting_up]


def all_claims():
    return [claim for module in MODULES for claim in module.CLAIMS]
