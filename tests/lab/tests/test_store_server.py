import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from rig import project, store_server

CALLS = [
    {"method": "initialize", "params": {"protocolVersion": "2025-06-18"}},
    {"method": "tools/list"},
    {"method": "tools/call", "params": {"name": "lookup", "arguments": {"size": 30}}},
    {"method": "tools/call", "params": {"name": "records"}},
    {"method": "tools/call", "params": {"name": "picture", "arguments": {}}},
]


class StoreServer(unittest.TestCase):
    def test_it_answers_as_a_script_of_its_own(self):
        lines = [json.dumps({"method": "notifications/initialized"})]
        lines += [json.dumps(call | {"jsonrpc": "2.0", "id": number}) for number, call in enumerate(CALLS)]
        with tempfile.TemporaryDirectory() as folder:
            picture = Path(folder) / "picture.png"
            picture.write_bytes(project.png(8, 6))
            argv = [sys.executable, "-I", "-B", store_server.__file__, str(picture)]
            done = subprocess.run(argv, input="\n".join(lines) + "\n", capture_output=True, text=True, timeout=20)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([answer["id"] for answer in answers], [0, 1, 2, 3, 4])
        about, tools, lookup, records, picture = [answer["result"] for answer in answers]
        self.assertEqual(about["protocolVersion"], "2025-06-18")
        self.assertEqual([tool["name"] for tool in tools["tools"]], ["lookup", "records", "picture"])
        self.assertEqual(len(lookup["content"][0]["text"].split()), 30)
        self.assertEqual(json.loads(records["content"][0]["text"]), records["structuredContent"])
        self.assertEqual(picture["content"][1]["mimeType"], "image/png")
