"""The table of what was seen."""

HEADS = ("page", "claim", "client", "version", "seen", "")


def _cells(row):
    return (row.page, row.says, row.client, row.version, row.seen, "right" if row.right else "WRONG")


def as_text(rows):
    """Returns a row on a line, the wrong ones marked."""
    return "\n".join(f"{cells[5]:5}  {'  '.join(cells[:4])}: {cells[4]}" for cells in map(_cells, rows))


def as_markdown(rows):
    """Returns a table in Markdown."""
    lines = [HEADS, ("---",) * len(HEADS), *map(_cells, rows)]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
