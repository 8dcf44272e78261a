#!/usr/bin/python3
"""An HTTP/2 server over TLS that serves files and does one thing wrong, for the tests.

usage: http2.py ROOT CERTIFICATE KEY FAULT COUNT

FAULT is what is done to COUNT streams of all that come (`goaway`: how many are served on each
connection):
  none           nothing
  refuse         the stream is refused
  calm-stream    the stream ends with ENHANCE_YOUR_CALM
  calm           the connection ends with ENHANCE_YOUR_CALM, and no stream of it was processed
  goaway         no stream after the first COUNT of a connection is processed
  break          the stream ends with INTERNAL_ERROR in the middle of its body
  garbage        the connection goes on with bytes that are no frames
  close          the connection closes without a word
  no-http1       nothing; and HTTP/1.1 is answered with status 505

The first line on standard output is the port; then a line for every request: connection, version, path.
"""
import socket
import ssl
import struct
import sys
import threading

import h2.config
import h2.connection
import h2.events

ROOT, CERTIFICATE, KEY, FAULT, COUNT = sys.argv[1:5] + [int(sys.argv[5])]
PROTOCOL_ERROR, INTERNAL_ERROR, REFUSED_STREAM, ENHANCE_YOUR_CALM = 1, 2, 7, 11
lock = threading.Lock()
streams = 0


def say(*words):
    with lock:
        print(*words, flush=True)


def goaway(last, code):
    """A GOAWAY frame (RFC 9113 section 6.8)."""
    return struct.pack(">IBIII", 8 << 8 | 7, 0, 0, last, code)


def read(path):
    try:
        with open(ROOT + path.split("?")[0], "rb") as file:
            return file.read()
    except OSError:
        return None


def serve_http1(link, number):
    request = b""
    while b"\r\n\r\n" not in request:
        piece = link.recv(65536)
        if not piece:
            return
        request += piece
    path = request.split(b" ")[1].decode()
    say(number, "1.1", path)
    body = None if FAULT == "no-http1" else read(path)
    status = 505 if FAULT == "no-http1" else 404 if body is None else 200
    head = f"HTTP/1.1 {status} Any\r\nContent-Length: {len(body or b'')}\r\nConnection: close\r\n\r\n"
    link.sendall(head.encode() + (body or b""))


class Served:
    """One HTTP/2 connection."""

    def __init__(self, link, number):
        self.link, self.number, self.served = link, number, 0
        self.unsent = {}
        self.state = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
        self.state.initiate_connection()
        self.flush()

    def flush(self):
        self.link.sendall(self.state.data_to_send())

    def run(self):
        while piece := self.link.recv(65536):
            for event in self.state.receive_data(piece):
                if isinstance(event, h2.events.RequestReceived):
                    path = dict(event.headers)[b":path"].decode()
                    say(self.number, "2", path)
                    if not self.answer(event.stream_id, path):
                        return
                elif isinstance(event, h2.events.WindowUpdated):
                    for stream in list(self.unsent):
                        self.send(stream)
                elif isinstance(event, h2.events.StreamReset):
                    self.unsent.pop(event.stream_id, None)
            self.flush()

    def answer(self, stream, path):
        """False once the connection is over."""
        global streams
        with lock:
            streams += 1
            is_wrong = streams <= COUNT
        self.served += 1
        if FAULT == "goaway" and self.served > COUNT:
            self.flush()
            self.link.sendall(goaway(2 * COUNT - 1, 0))
            return True
        if is_wrong and FAULT == "refuse":
            self.state.reset_stream(stream, REFUSED_STREAM)
            return True
        if is_wrong and FAULT == "calm-stream":
            self.state.reset_stream(stream, ENHANCE_YOUR_CALM)
            return True
        if is_wrong and FAULT == "calm":
            self.link.sendall(goaway(0, ENHANCE_YOUR_CALM))
            return False
        if is_wrong and FAULT == "garbage":
            self.flush()
            self.link.sendall(b"these bytes are no frames")
            return True
        if is_wrong and FAULT == "close":
            return False
        body = read(path)
        self.state.send_headers(
            stream,
            [(":status", "404" if body is None else "200"), ("content-length", str(len(body or b"")))],
        )
        if is_wrong and FAULT == "break":
            self.state.send_data(stream, (body or b"")[:10])
            self.state.reset_stream(stream, INTERNAL_ERROR)
            return True
        self.unsent[stream] = body or b""
        self.send(stream)
        return True

    def send(self, stream):
        rest = self.unsent[stream]
        while True:
            room = min(
                self.state.local_flow_control_window(stream), self.state.max_outbound_frame_size)
            if rest and room <= 0:
                self.unsent[stream] = rest
                return
            piece, rest = rest[:room], rest[room:]
            self.state.send_data(stream, piece, end_stream=not rest)
            if not rest:
                del self.unsent[stream]
                return


def serve(socket_, number, context):
    try:
        link = context.wrap_socket(socket_, server_side=True)
        if link.selected_alpn_protocol() == "h2":
            Served(link, number).run()
        else:
            serve_http1(link, number)
        link.unwrap()
    except OSError:
        pass
    finally:
        socket_.close()


def main():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE, KEY)
    context.set_alpn_protocols(["h2", "http/1.1"])
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    say(listener.getsockname()[1])
    number = 0
    while True:
        peer, _ = listener.accept()
        threading.Thread(target=serve, args=(peer, number, context), daemon=True).start()
        number += 1


main()
