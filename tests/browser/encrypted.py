"""Serves nothing over TLS and prints the path of every request, one a line, its port first.

What is asked for with `reports` in its path asks for reports, to paths below `/no`.
"""

import http.server
import ssl
import sys


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        sys.stdout.write(self.path + "\n")
        sys.stdout.flush()
        self.send_response(200)
        if "reports" in self.path:
            no = "https://" + self.headers["Host"] + "/no/"
            self.send_header("Reporting-Endpoints", f'default="{no}default", csp="{no}csp"')
            self.send_header(
                "Content-Security-Policy-Report-Only", f"img-src 'none'; report-to csp; report-uri {no}uri"
            )
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_POST = do_OPTIONS = do_GET

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1])
server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
print(server.server_address[1], flush=True)
server.serve_forever()
