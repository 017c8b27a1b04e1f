"""A receiver of OTLP by HTTP, of the official definitions: writes each data point and log record as a line of JSON.

Called with a port (0: any) and the file to write to. Prints its port once it listens."""

import json, sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2 as logs
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2 as metrics

KINDS = {
    "/v1/metrics": (metrics.ExportMetricsServiceRequest, metrics.ExportMetricsServiceResponse),
    "/v1/logs": (logs.ExportLogsServiceRequest, logs.ExportLogsServiceResponse),
}


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        request, response = KINDS[self.path]
        assert self.headers["Content-Type"] == "application/x-protobuf"
        message = request.FromString(self.rfile.read(int(self.headers["Content-Length"])))
        with open(sys.argv[2], "a") as out:
            out.write(json.dumps(MessageToDict(message)) + "\n")
        self.send_response(200)
        self.send_header("Content-Type", "application/x-protobuf")
        self.end_headers()
        self.wfile.write(response().SerializeToString())


server = HTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver)
print(server.server_port, flush=True)
server.serve_forever()
