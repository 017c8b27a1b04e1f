"""What a user has in a project: memory files, a skill, pictures and a paper. All is invented, and the same in each run."""

import random
import struct
import zlib

MEMORY = ("CLAUDE.md", "AGENTS.md", "GEMINI.md")
HOMES = (".claude", ".codex", ".agents", ".opencode", ".gemini")
PICTURES = ((200, 100), (1000, 700), (1920, 1080))
NOUNS = "shelf box label ladder crate ledger lamp door cart scale hook rope bench drawer key ramp".split()
VERBS = "opens closes holds moves counts weighs marks stores".split()
SKILL = "---\nname: labskill\ndescription: How the store's log is read. Use it for logs.\n---\n\n# The log\n\n"


def furnish(work):
    """Puts it all into a project."""
    for number, name in enumerate(MEMORY):
        (work / name).write_text("# How we work here\n\n" + sentences(200, number))
    for home in HOMES:
        folder = work / home / "skills/labskill"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "SKILL.md").write_text(SKILL + sentences(60, 10))
    for width, height in PICTURES:
        (work / f"picture-{width}.png").write_bytes(png(width, height))


def sentences(count, seed):
    """Returns a list of sentences."""
    draw = random.Random(seed)
    rows = [f"- the {draw.choice(NOUNS)} {draw.choice(VERBS)} {draw.choice(NOUNS)} {draw.randrange(1000)}\n" for _ in range(count)]
    return "".join(rows)


def png(width, height):
    """Returns a picture of this size, with a gradient."""
    rows = b"".join(b"\0" + bytes([row % 256, 90, 120]) * width for row in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = [(b"IHDR", head), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
