"""What the pages claim of a client: a file for each subject. Each claim is a function that looks in the real client."""

from claims import compaction, hooks, panes, server, setting_up, settings, status_line

MODULES = [status_line, panes, hooks, compaction, setting_up, server, settings]


def all_claims():
    return [claim for module in MODULES for claim in module.CLAIMS]
