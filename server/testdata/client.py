"""A client of samestep.v1, written from docs/spec/live.md and docs/spec/replay.md alone.

    python3 client.py HOST:PORT MATCH TOKEN SECONDS

It joins a match of the minimal game without simulating it: it gives commands, follows the frames, checks their order and
that each of its commands runs once in the tick that was promised, cuts its connection in the middle and resumes, and
leaves. What it saw, it prints as JSON. It needs the standard library only.
"""

import base64
import hashlib
import http.client
import json
import os
import socket
import struct
import sys
import time

from samestep import Bad, Unpacker, pack, self_test

AUTH, COMMAND, STATE, STATE_SYNC_REQUEST, PING, LEAVE, ACK = 32, 33, 35, 36, 37, 39, 40
WELCOME, STATE_SYNC, ACCEPTED, REJECTED, STATE_REQUEST, PONG, ERROR, CLOSING, HELD = 48, 49, 50, 51, 52, 54, 56, 57, 58
HEADER, KEYFRAME, FRAME, EMPTY, CHECKSUM, MISMATCH, END, NOTE, EVENT = 1, 2, 3, 4, 5, 6, 7, 64, 67
SYSTEM = 255


# WebSocket (RFC 6455), as far as the protocol uses it.


class Socket:
    def __init__(self, address, path):
        host, port = address.rsplit(":", 1)
        self.s = socket.create_connection((host, int(port)), 10)
        self.rest = b""
        key = base64.b64encode(os.urandom(16)).decode()
        self.s.sendall(
            (
                "GET %s HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                "Sec-WebSocket-Key: %s\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: samestep.v1\r\n\r\n" % (path, address, key)
            ).encode()
        )
        while b"\r\n\r\n" not in self.rest:
            self.fill()
        head, self.rest = self.rest.split(b"\r\n\r\n", 1)
        accept = base64.b64encode(hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest())
        if not head.startswith(b"HTTP/1.1 101") or accept not in head or b"samestep.v1" not in head:
            raise Bad("no upgrade: %r" % head)

    def fill(self):
        b = self.s.recv(65536)
        if not b:
            raise EOFError
        self.rest += b

    def take(self, n):
        while len(self.rest) < n:
            self.fill()
        b, self.rest = self.rest[:n], self.rest[n:]
        return b

    def send(self, payload, opcode=2):
        n, mask = len(payload), os.urandom(4)
        head = bytes([0x80 | opcode])
        head += bytes([0x80 | n]) if n < 126 else b"\xfe" + struct.pack(">H", n)
        self.s.sendall(head + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(payload)))

    def receive(self):
        """Returns the next message, or None at the end."""
        while True:
            first, n = self.take(2)
            if n == 126:
                n = struct.unpack(">H", self.take(2))[0]
            elif n == 127:
                n = struct.unpack(">Q", self.take(8))[0]
            if n > 128 << 10:
                raise Bad("a message of %d bytes" % n)
            payload = self.take(n)
            if first == 0x82:
                return payload
            if first == 0x88:
                self.send(payload[:2], 8)
                return None
            if first == 0x89:
                self.send(payload, 10)

    def cut(self):
        self.s.close()


class Client:
    def __init__(self, address, match, token):
        self.address, self.match, self.token = address, match, token
        self.session, self.position, self.next = b"", 0, 1
        self.last, self.tick, self.streaming = {}, 0, False
        self.sync = b""
        self.promised, self.ran, self.waiting = {}, {}, {}
        self.seen = dict(frames=0, empty=0, checksums=0, notes=0, commands=0, syncs=0, resumed=0, rejected=0, welcomes=0)
        self.ended, self.closing, self.acked = "", None, 0
        connection = http.client.HTTPConnection(address, timeout=10)
        connection.request("GET", "/matches/" + match)
        self.about = json.loads(connection.getresponse().read())
        connection.close()
        theirs = [int(v) for v in self.about["self_test"]]
        self.sums = self_test(theirs[4])  # only clients that simulate need the game's own sum
        if self.sums != theirs:
            raise Bad("this machine computes %s, the server %s" % (self.sums, theirs))

    def connect(self):
        a = self.about
        self.socket = Socket(self.address, "/matches/%s/play" % self.match)
        token = "" if self.session else self.token
        self.say(
            AUTH, a["protocol"], a["engine"], a["game"], a["build"], int(a["state_schema"]), int(a["command_schema"]),
            self.sums, "python", token, self.session, self.position, [],
        )

    def say(self, *values):
        self.socket.send(pack(list(values)))

    def command(self, x, y):
        payload = struct.pack("<HH", x, y)
        self.waiting[self.next] = payload
        self.say(COMMAND, self.next, 1, payload)
        self.next += 1

    def step(self):
        """Handles one message. Returns False at the end."""
        message = self.socket.receive()
        if message is None:
            return False
        u = Unpacker(message)
        while u.more():
            values = u.value()
            if not isinstance(values, list) or not values:
                raise Bad("not an array")
            kind = values.pop(0)
            if kind in (FRAME, EMPTY, CHECKSUM, MISMATCH, END) or kind >= 64:
                self.record(kind, values)
            else:
                self.receive(kind, values)
        if self.streaming and self.tick >= self.acked + self.every:
            self.acknowledge()
        return True

    def acknowledge(self):
        self.acked = self.tick
        self.say(ACK, self.position, self.tick)

    def receive(self, kind, v):
        if kind == WELCOME:
            self.seat, self.role, self.session, _, position, resumed, last, every, self.delay, _ = v
            self.every = max(1, every)
            self.next = max(self.next, last + 1)
            self.seen["welcomes"] += 1
            if resumed:
                if position != self.position:
                    raise Bad("resumed at %d, want %d" % (position, self.position))
                self.seen["resumed"] += 1
                self.acknowledge()
                for sequence, payload in sorted(self.waiting.items()):
                    self.say(COMMAND, sequence, 1, payload)
            else:
                self.streaming = False
        elif kind == STATE_SYNC:
            position, tick, offset, total, chunk = v
            self.sync = chunk if offset == 0 else self.sync + chunk
            if len(self.sync) == total:
                self.begin(position, tick)
        elif kind == ACCEPTED:
            sequence, tick = v
            if self.promised.setdefault(sequence, tick) != tick:
                raise Bad("two answers to %d" % sequence)
            self.waiting.pop(sequence, None)
        elif kind == REJECTED:
            self.seen["rejected"] += 1
            self.waiting.pop(v[0], None)
        elif kind == PING:
            self.say(PONG, v[0], self.tick)
        elif kind == STATE_REQUEST:
            self.say(STATE, v[0], 0, 0, b"")  # it does not simulate
        elif kind == CLOSING:
            self.closing = v[0]
        elif kind == ERROR:
            raise Bad("error %r" % v)

    def begin(self, position, tick):
        """Restarts the stream with a header and a keyframe."""
        u = Unpacker(self.sync)
        header, keyframe = u.value(), u.value()
        while u.more():
            if u.value()[0] not in (NOTE, EVENT):
                raise Bad("a state sync with more than notes after the keyframe")
        if header[0] != HEADER or keyframe[0] != KEYFRAME or keyframe[1] != tick:
            raise Bad("a state sync that is not a header and a keyframe")
        if header[3] != self.about["game"] or header[5].hex() != self.about["match"]:
            raise Bad("the header of another match")
        _, self.tick, _, last, _ = keyframe
        self.last = dict(zip(last[0::2], last[1::2]))
        self.position, self.streaming = position, True
        self.seen["syncs"] += 1
        self.acknowledge()

    def record(self, kind, v):
        if not self.streaming:
            raise Bad("a record before the state")
        self.position += 1
        if kind == EMPTY:
            self.tick += v[0]
            self.seen["empty"] += v[0]
        elif kind == FRAME:
            self.tick += 1
            self.frame(v)
        elif kind == CHECKSUM:
            self.seen["checksums"] += 1
        elif kind == END:
            self.ended = v[0]
        elif kind >= 64:
            self.seen["notes"] += 1

    def frame(self, v):
        self.seen["frames"] += 1
        before = (-1, -1)
        for i in range(0, len(v), 4):
            player, step, kind, payload = v[i : i + 4]
            sequence = self.last.get(player, 0) + step
            if step < 1 or (player, sequence) <= before:
                raise Bad("tick %d is not in canonical order" % self.tick)
            before = (player, sequence)
            self.last[player] = sequence
            self.seen["commands"] += 1
            if player == self.seat and player != SYSTEM:
                if sequence in self.ran:
                    raise Bad("command %d ran twice" % sequence)
                self.ran[sequence] = self.tick


def play(c, seconds, each):
    end, due = time.time() + seconds, 0
    while time.time() < end and c.closing is None:
        if not c.step():
            return
        if c.streaming and c.tick >= due:
            due = c.tick + 5
            each(c)


def main():
    address, match, token, seconds = sys.argv[1:5]
    c = Client(address, match, token)
    c.connect()
    go = lambda c: c.command(c.tick % 40, (3 * c.tick) % 40)
    play(c, float(seconds) / 2, go)
    c.command(1, 2)  # its answer is lost with the connection
    c.socket.cut()
    c.connect()
    play(c, float(seconds) / 2, go)
    play(c, 0.7, lambda c: None)  # until the accepted commands have run
    for sequence, tick in c.promised.items():
        if tick <= c.tick and c.ran.get(sequence) != tick:
            raise Bad("command %d was promised for tick %d and ran in %s" % (sequence, tick, c.ran.get(sequence)))
    c.say(LEAVE, "")
    while c.closing is None and c.step():
        pass
    print(json.dumps(dict(c.seen, seat=c.seat, tick=c.tick, promised=len(c.promised), ran=len(c.ran), waiting=len(c.waiting), closing=c.closing)))


if __name__ == "__main__":
    main()
