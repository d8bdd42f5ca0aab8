"""A headless client of the wire of docs/compat.md, with nothing but Python's standard library.

It shares no code with the bridge that it tests: it has its own WebSocket, its own MessagePack, its own physics and its
own checksum, all written from that page.

    python3 client.py HOST:PORT TOKEN TICKS [resync=TICK] [every=TICKS] [wrong=TICK]

It plays up to a tick: every so many ticks it moves or jumps. At the tick of resync it asks for the state, and compares it
with its own. At the tick of wrong it changes its own state, and asks for the state when a report names it. At the end it
prints what happened as one line of JSON.
"""

import base64
import hashlib
import json
import os
import socket
import struct
import sys

# MessagePack: maps, lists, texts and integers.


def pack(value, out):
    if isinstance(value, dict):
        header(out, len(value), 0x80, 0xDE)
        for key, each in value.items():
            pack(key, out)
            pack(each, out)
    elif isinstance(value, list):
        header(out, len(value), 0x90, 0xDC)
        for each in value:
            pack(each, out)
    elif isinstance(value, str):
        b = value.encode()
        if len(b) < 32:
            out.append(0xA0 | len(b))
        else:
            out += struct.pack(">BH", 0xDA, len(b))
        out += b
    elif isinstance(value, int):
        number(value, out)
    else:
        raise TypeError(value)


def header(out, n, short, long):
    if n < 16:
        out.append(short | n)
    else:
        out += struct.pack(">BH", long, n)


def number(v, out):
    if v >= 0:
        forms = ((0x7F, None, ">B"), (0xFF, 0xCC, ">B"), (0xFFFF, 0xCD, ">H"), (0xFFFFFFFF, 0xCE, ">I"), (2**64, 0xCF, ">Q"))
        for limit, code, form in forms:
            if v <= limit:
                break
    else:
        forms = ((-32, None, ">b"), (-(2**7), 0xD0, ">b"), (-(2**15), 0xD1, ">h"), (-(2**31), 0xD2, ">i"), (-(2**63), 0xD3, ">q"))
        for limit, code, form in forms:
            if v >= limit:
                break
    if code is not None:
        out.append(code)
    out += struct.pack(form, v)


SIZES = {0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q", 0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q"}


def unpack(b, at):
    """Returns the value at a place of b, and the place after it."""
    c = b[at]
    at += 1
    if c < 0x80:
        return c, at
    if c >= 0xE0:
        return c - 256, at
    if c < 0x90:
        return unpack_map(b, at, c & 15)
    if c < 0xA0:
        return unpack_list(b, at, c & 15)
    if c < 0xC0:
        end = at + (c & 31)
        return b[at:end].decode(), end
    if c in SIZES:
        form = SIZES[c]
        return struct.unpack_from(form, b, at)[0], at + struct.calcsize(form)
    if c == 0xD9:
        end = at + 1 + b[at]
        return b[at + 1 : end].decode(), end
    if c in (0xDA, 0xDC, 0xDE):
        n = b[at] << 8 | b[at + 1]
        at += 2
        if c == 0xDC:
            return unpack_list(b, at, n)
        if c == 0xDE:
            return unpack_map(b, at, n)
        return b[at : at + n].decode(), at + n
    raise ValueError("byte 0x%02x" % c)


def unpack_map(b, at, n):
    m = {}
    for _ in range(n):
        key, at = unpack(b, at)
        m[key], at = unpack(b, at)
    return m, at


def unpack_list(b, at, n):
    values = []
    for _ in range(n):
        v, at = unpack(b, at)
        values.append(v)
    return values, at


# WebSocket, RFC 6455.


class Socket:
    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self.s = socket.create_connection((host, int(port)), timeout=120)
        self.s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        key = base64.b64encode(os.urandom(16)).decode()
        self.s.sendall(
            (
                f"GET / HTTP/1.1\r\nHost: {address}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n"
            ).encode()
        )
        self.buffer, self.at = b"", 0
        while b"\r\n\r\n" not in self.buffer:
            self.more()
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        accept = base64.b64encode(hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest())
        if b" 101 " not in head.split(b"\r\n")[0] or accept not in head:
            raise ConnectionError(head.decode())

    def more(self):
        part = self.s.recv(1 << 16)
        if not part:
            raise ConnectionError("the server has hung up")
        self.buffer = self.buffer[self.at :] + part
        self.at = 0

    def need(self, n):
        while len(self.buffer) - self.at < n:
            self.more()

    def read(self):
        """Returns the next binary message."""
        while True:
            self.need(2)
            first, second = self.buffer[self.at], self.buffer[self.at + 1]
            size, head = second & 127, 2
            if size == 126:
                self.need(4)
                size, head = struct.unpack_from(">H", self.buffer, self.at + 2)[0], 4
            elif size == 127:
                self.need(10)
                size, head = struct.unpack_from(">Q", self.buffer, self.at + 2)[0], 10
            self.need(head + size)
            begin = self.at + head
            payload = self.buffer[begin : begin + size]
            self.at = begin + size
            if first == 0x82:
                return payload
            if first == 0x89:
                self.frame(0x8A, payload)
            elif first == 0x88:
                raise ConnectionError("closed: %r" % payload)
            elif first != 0x8A:
                raise ConnectionError("a frame that begins with 0x%02x" % first)

    def frame(self, first, payload):
        mask = os.urandom(4)
        n = len(payload)
        head = struct.pack(">BB", first, 0x80 | n) if n < 126 else struct.pack(">BBH", first, 0x80 | 126, n)
        self.s.sendall(head + mask + bytes(c ^ mask[i & 3] for i, c in enumerate(payload)))

    def send(self, message):
        out = bytearray()
        pack(message, out)
        self.frame(0x82, bytes(out))


# The game.


class World:
    """The state of a match, from the snapshot of a state_sync."""

    def __init__(self, config, snapshot, tick):
        self.next_id = snapshot["next_entity_id"]
        self.tick = tick
        self.config = config
        self.entities = {e["id"]: {k: dict(v) for k, v in e.items() if k != "id"} for e in snapshot["entities"]}
        self.units = sorted(i for i, e in self.entities.items() if "OwnedBy" in e)
        self.solids, self.triggers = [], []
        for i, e in sorted(self.entities.items()):
            if "Position" in e and "Collision" in e and i not in self.units:
                (self.triggers if "Trigger" in e else self.solids).append((i, self.box(e)))

    @staticmethod
    def box(e):
        p, c = e["Position"], e["Collision"]
        w, h = c["width"] // 2, c["height"] // 2
        return p["x"] - w, p["x"] + w, p["y"] - h, p["y"] + h

    def step(self, tick, commands):
        for c in sorted(commands, key=lambda c: (c["issuer"], c["sequence"], c["type"], c["targets"], c.get("x", 0))):
            for target in c["targets"]:
                e = self.entities.get(target)
                if e is None or e.get("OwnedBy", {}).get("owner") != c["issuer"]:
                    continue
                if c["type"] == "MOVE":
                    e["Movement"]["x"] = c["x"]
                else:
                    e["Movement"]["y"] = 1
        boxes = self.solids + [(i, self.box(self.entities[i])) for i in self.units]
        for i in self.units:
            self.move(self.entities[i], [b for j, b in boxes if j != i])
        for i in self.units:
            self.trigger(self.entities[i])
        self.tick = tick

    def move(self, e, others):
        p, m, body = e["Position"], e["Movement"], e["RigidBody"]
        cfg = self.config
        w, h = e["Collision"]["width"] // 2, e["Collision"]["height"] // 2
        x, y = p["x"], p["y"]
        if m["x"]:
            to = x + m["x"] * 100  # clients of this wire take 100, whatever the configuration says
            for left, right, bottom, top in others:
                if y - h < top and bottom < y + h and to - w < right and left < to + w:
                    to = left - w if m["x"] > 0 else right + w
            x = p["x"] = to
        over = [b for b in others if x - w < b[1] and b[0] < x + w]
        bottom = y - h
        grounded = any(abs(b[3] - bottom) <= 1 for b in over)
        vy = body["vy"]
        if m["y"] == 1 and grounded:
            vy = cfg["jump_rise_speed"]
        m["y"] = 0
        if vy > 0:
            to = y + vy
            for b in over:
                if b[2] > y:
                    to = min(to, b[2] - h)
            vy = 0 if to == y else max(0, vy - cfg["jump_gravity"])
            p["y"] = to
        elif not grounded:
            vy = max(-cfg["fall_speed"], vy - cfg["jump_gravity"])
            to = y + vy
            for b in over:
                if b[3] <= bottom + 1 and to - h <= b[3] + 1:
                    to = max(to, b[3] + h)
            p["y"] = to
        else:
            vy = 0
        body["vy"] = vy

    def trigger(self, e):
        left, right, bottom, top = self.box(e)
        before = e["TriggerOverlap"]["inside"]
        inside = [
            i
            for i, b in self.triggers
            if left <= b[1] + 1 and b[0] <= right + 1 and bottom <= b[3] + 1 and b[2] <= top + 1
        ]
        e["TriggerOverlap"]["inside"] = inside
        if inside == before:
            return
        for i in inside:
            if i not in before:
                self.act(e, self.entities[i]["Trigger"]["on_enter"])
        for i in before:
            if i not in inside:
                self.act(e, self.entities[i]["Trigger"]["on_exit"])

    @staticmethod
    def act(e, action):
        places = {"teleport": (0, 0), "spawn": (5000, 5000)}
        if action in places:
            e["Position"]["x"], e["Position"]["y"] = places[action]

    def text(self):
        parts = [integer(self.tick), integer(self.next_id)]
        for i in sorted(self.entities):
            parts.append(integer(i))
            for name, fields in sorted(self.entities[i].items()):
                parts.append(string(name))
                for key, value in sorted(fields.items()):
                    parts.append(string(key))
                    if isinstance(value, int):
                        parts += string("int"), integer(value)
                    else:
                        parts += string("str"), string(str(value))
        return "".join(parts)

    def checksum(self):
        h = 2166136261
        for c in self.text():
            h = (h ^ ord(c)) * 16777619 & 0xFFFFFFFF
        return "%08x" % h


def integer(v):
    return f"i:{v};"


def string(s):
    return f"s:{len(s)}:{s};"


# The match.


class Client:
    def __init__(self, address, token, options):
        self.socket = Socket(address)
        self.socket.send({"kind": "auth", "token": token})
        self.every = options.get("every", 50)
        self.resync = options.get("resync", -1)
        self.wrong_at = options.get("wrong", -1)
        self.world, self.next, self.sequence, self.accepted, self.asked = None, 0, 0, {}, False
        self.result = {
            "player": None, "first": None, "ticks": 0, "checksums": 0, "reports": 0, "named": 0, "errors": 0, "accepted": 0, "ran": 0,
            "unannounced": 0, "syncs": 0, "differing_syncs": 0, "last_checksum": "",
        }

    def run(self, ticks):
        while self.next <= ticks:
            message, _ = unpack(self.socket.read(), 0)
            kind = message.get("kind")
            if kind == "command_frame":
                self.frame(message)
            elif kind == "state_sync":
                self.adopt(message)
            elif kind == "command_accepted":
                self.accepted[message["sequence"]] = message["assigned_tick"]
                self.result["accepted"] += 1
            elif kind == "desync_report":
                self.report(message)
            elif kind == "error":
                self.result["errors"] += 1
        self.result["ticks"] = self.next
        return self.result

    def adopt(self, m):
        keys = [
            "kind", "current_tick", "snapshot_tick", "tick_rate", "command_delay_ticks", "checksum_interval_ticks",
            "game_config", "snapshot", "command_frames", "player_id",
        ]
        if list(m) != keys:
            raise ValueError("keys of state_sync: %s" % list(m))
        if self.world is not None and m["current_tick"] != self.next:
            raise ValueError("a state of tick %d in front of frame %d" % (m["current_tick"], self.next))
        world = World(m["game_config"], m["snapshot"], m["current_tick"] - 1)
        if self.world is None:
            self.result["first"] = m["current_tick"]
        elif world.text() != self.world.text():
            self.result["differing_syncs"] += 1
        self.world, self.next, self.interval = world, m["current_tick"], m["checksum_interval_ticks"]
        self.player = self.result["player"] = m["player_id"]
        self.result["syncs"] += 1
        self.asked = False
        own = [i for i in world.units if world.entities[i]["OwnedBy"]["owner"] == self.player]
        self.unit = own[0] if own else None

    def frame(self, m):
        tick, commands = m["tick"], m["commands"]
        if tick != self.next:
            raise ValueError("frame %d, want %d" % (tick, self.next))
        for c in commands:
            if c["issuer"] == self.player:
                self.result["ran"] += 1
                if self.accepted.pop(c["sequence"], None) != tick:
                    self.result["unannounced"] += 1
        self.world.step(tick, commands)
        self.next = tick + 1
        if tick == self.wrong_at:
            self.world.entities[2]["Position"]["x"] += 1  # a platform, which only a state puts back
        if tick > 0 and tick % self.interval == 0:
            self.result["last_checksum"] = self.world.checksum()
            self.result["checksums"] += 1
            self.socket.send({"kind": "checksum", "tick": tick, "checksum": self.result["last_checksum"]})
        if tick == self.resync:
            self.socket.send({"kind": "state_sync_request"})
        if self.unit and tick % self.every == 0:
            self.play(tick // self.every)

    def play(self, turn):
        self.sequence += 1
        command = {"sequence": self.sequence, "targets": [self.unit, 1, self.unit]}
        if turn % 3 == 2:
            command.update(type="JUMP", targets=[self.unit])
        else:
            command.update(type="MOVE", x=(turn * 7 + self.player) % 3 - 1)
        self.socket.send({"kind": "command", "command": command})

    def report(self, m):
        self.result["reports"] += 1
        if any(str(self.player) in who for who in m["checksums"].values()):
            self.result["named"] += 1
            if not self.asked:
                self.asked = True
                self.socket.send({"kind": "state_sync_request"})


if __name__ == "__main__":
    settings = {key: int(value) for key, value in (word.split("=") for word in sys.argv[4:])}
    print(json.dumps(Client(sys.argv[1], sys.argv[2], settings).run(int(sys.argv[3]))))
