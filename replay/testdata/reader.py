"""Reads replays by docs/spec/replay.md and docs/spec/state.md alone, with nothing but Python's own
library and the command zstd.

    reader.py FILE           prints the last tick, the number of commands and the
                             content hash of a file, or its verdict
    reader.py --suite DIR    runs the conformance suite in a folder, and prints
                             what differs
"""
import functools
import hashlib
import json
import os
import re
import struct
import subprocess
import sys

# --- xxHash64 ----------------------------------------------------------------

M = (1 << 64) - 1
P1, P2, P3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
P4, P5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5


def rotl(x, n):
    return (x << n | x >> (64 - n)) & M


def mix(acc, lane):
    return rotl((acc + lane * P2) & M, 31) * P1 & M


@functools.lru_cache(4096)
def xxh64(b):
    at = 0
    if len(b) >= 32:
        v = [(P1 + P2) & M, P2, 0, -P1 & M]
        at = len(b) // 32 * 32
        for i, acc in enumerate(v):
            for lane in struct.unpack_from("<%dQ" % (at // 8), b)[i::4]:
                acc = acc + lane * P2 & M  # mix, in place: this takes most of the time
                acc = (acc << 31 | acc >> 33) * P1 & M
            v[i] = acc
        h = (rotl(v[0], 1) + rotl(v[1], 7) + rotl(v[2], 12) + rotl(v[3], 18)) & M
        for a in v:
            h = ((h ^ mix(0, a)) * P1 + P4) & M
    else:
        h = P5
    h = (h + len(b)) & M
    while at + 8 <= len(b):
        h = (rotl(h ^ mix(0, struct.unpack_from("<Q", b, at)[0]), 27) * P1 + P4) & M
        at += 8
    if at + 4 <= len(b):
        h = (rotl(h ^ struct.unpack_from("<I", b, at)[0] * P1 & M, 23) * P2 + P3) & M
        at += 4
    for c in b[at:]:
        h = rotl(h ^ c * P5 & M, 11) * P1 & M
    h = (h ^ h >> 33) * P2 & M
    h = (h ^ h >> 29) * P3 & M
    return h ^ h >> 32


# --- Ed25519, RFC 8032 -------------------------------------------------------

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P


def add(a, b):
    A, B = (a[1] - a[0]) * (b[1] - b[0]) % P, (a[1] + a[0]) * (b[1] + b[0]) % P
    C, E = 2 * a[3] * b[3] * D % P, 2 * a[2] * b[2] % P
    e, f, g, h = B - A, E - C, E + C, B + A
    return e * f % P, g * h % P, f * g % P, e * h % P


def times(s, q):
    r = (0, 1, 1, 0)
    while s:
        if s & 1:
            r = add(r, q)
        q, s = add(q, q), s >> 1
    return r


def point(b):
    y = int.from_bytes(b, "little")
    sign, y = y >> 255, y & (1 << 255) - 1
    x2 = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(x2, (P + 3) // 8, P)
    if (x * x - x2) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    if (x * x - x2) % P or y >= P:
        return None
    if x & 1 != sign:
        x = P - x
    return x, y, 1, x * y % P


def signed(key, text, signature):
    a, r, s = point(key), point(signature[:32]), int.from_bytes(signature[32:], "little")
    if a is None or r is None or s >= L:
        return False
    base = point((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))
    h = int.from_bytes(hashlib.sha512(signature[:32] + key + text).digest(), "little") % L
    u, v = times(s, base), add(r, times(h, a))
    return (u[0] * v[2] - v[0] * u[2]) % P == 0 and (u[1] * v[2] - v[1] * u[2]) % P == 0


# --- faults and forms --------------------------------------------------------


class Fault(Exception):
    """The verdict on a file that is not ok, and where it is."""

    def __init__(self, verdict, **where):
        super().__init__(verdict, where)
        self.verdict, self.where = verdict, where


def uvarint(b, at, most):
    n = shift = 0
    while True:
        if at >= len(b) or shift > 63:
            raise Fault("corrupt")
        n, shift, at = n | (b[at] & 0x7F) << shift, shift + 7, at + 1
        if b[at - 1] < 0x80:
            break
    if n > most or shift > 7 and b[at - 1] == 0:
        raise Fault("corrupt")
    return n, at


class Pack:
    """MessagePack in its smallest forms. Anything else is a Fault."""

    def __init__(self, b, at=0):
        self.b, self.at = b, at

    def take(self, n):
        if n > len(self.b) - self.at:
            raise Fault("corrupt")
        self.at += n
        return bytes(self.b[self.at - n:self.at])

    def number(self, size, least):
        n = int.from_bytes(self.take(size), "big")
        if n < least:
            raise Fault("corrupt")
        return n

    def uint(self, most):
        c = self.take(1)[0]
        if c >= 0x80:
            if not 0xCC <= c <= 0xCF:
                raise Fault("corrupt")
            c = self.number(1 << c - 0xCC, (0x80, 1 << 8, 1 << 16, 1 << 32)[c - 0xCC])
        if c > most:
            raise Fault("corrupt")
        return c

    def bool(self):
        c = self.take(1)[0]
        if c not in (0xC2, 0xC3):
            raise Fault("corrupt")
        return c == 0xC3

    def length(self, short, limit, long, most, least=0):
        c = self.take(1)[0]
        if limit and short <= c < short + limit:
            n = c - short
        elif c in long:
            width = 1 << long.index(c) + (len(long) == 2)
            n = self.number(width, limit if c == long[0] else 1 << 4 * width)
        else:
            raise Fault("corrupt")
        if n < least or least == most != n:
            raise Fault("corrupt")
        if n > most:
            raise Fault("limit")
        if n > len(self.b) - self.at:
            raise Fault("corrupt")
        return n

    def array(self, least, most):
        return self.length(0x90, 16, (0xDC, 0xDD), most, least)

    def bytes(self, most):
        return self.take(self.length(0, 0, (0xC4, 0xC5, 0xC6), most))

    def text(self, most):
        try:
            return self.take(self.length(0xA0, 32, (0xD9, 0xDA, 0xDB), most)).decode("utf-8")
        except UnicodeDecodeError:
            raise Fault("corrupt")

    def end(self):
        if self.at != len(self.b):
            raise Fault("corrupt")


# --- schemas, states, payloads -----------------------------------------------

BOOL, STRING, ARRAY, SLICE, STRUCT = 1, 10, 11, 12, 13
SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 2, 8: 4, 9: 8, 10: 4, 12: 4}


class Node:
    def __init__(self, kind, fraction, count, name):
        self.kind, self.fraction, self.count, self.name, self.inner = kind, fraction, count, name, []
        self.size = SIZES.get(kind, 0)  # of a value with all strings and slices empty


def bad(condition, **where):
    if condition:
        raise Fault("invalid", **where)


def schema(b):
    """Returns the root node of a description."""
    bad(len(b) < 4)
    count, at, nodes = struct.unpack_from("<I", b)[0], 4, []
    bad(count > 4096)
    for _ in range(count):
        bad(len(b) - at < 10)
        kind, fraction, inner, length = struct.unpack_from("<BBII", b, at)
        at += 10 + length
        bad(at > len(b))
        try:
            nodes.append(Node(kind, fraction, inner, bytes(b[at - length:at]).decode("utf-8")))
        except UnicodeDecodeError:
            bad(True)
    bad(at != len(b))
    root = tree(nodes, False, 1)
    bad(nodes or root.kind != STRUCT)
    return root


def tree(nodes, field, depth):
    """Takes one node with all below it from the front of a list."""
    bad(not nodes or depth > 32)
    n = nodes.pop(0)
    bad(not 1 <= n.kind <= 13)
    bad(n.fraction and not (2 <= n.kind <= 9 and n.fraction <= 8 * n.size))
    bad(n.kind == ARRAY and n.count == 0 or n.kind not in (ARRAY, STRUCT) and n.count)
    bad(n.kind == STRUCT and n.count == 0 and depth > 1)
    bad(not name_fits(n.name) if field else n.name)
    if n.kind == STRUCT:
        for _ in range(n.count):
            n.inner.append(tree(nodes, True, depth + 1))
        bad(len({f.name for f in n.inner}) != n.count)
        n.size = sum(f.size for f in n.inner)
    elif n.kind in (ARRAY, SLICE):
        n.inner.append(tree(nodes, False, depth + 1))
        n.size = n.count * n.inner[0].size if n.kind == ARRAY else 4
    bad(n.size > 1 << 30)
    return n


def name_fits(name):
    return len(name) <= 255 and re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name) is not None


def value(n, b, at, path, leaves):
    """Reads a value, notes its leaves, and returns where it ends."""
    if n.kind == STRUCT:
        for f in n.inner:
            at = value(f, b, at, path + "." + f.name if path else f.name, leaves)
        return at
    if n.kind != ARRAY:
        bad(len(b) - at < n.size, part="value", byte=at, path=path)
    count, start = n.count, at
    if n.kind in (STRING, SLICE):
        count = struct.unpack_from("<I", b, at)[0]
        at += 4
        bad(count * (n.inner[0].size if n.inner else 1) > len(b) - at, part="value", byte=start, path=path)
    if n.kind in (ARRAY, SLICE):
        for i in range(count):
            at = value(n.inner[0], b, at, "%s[%d]" % (path, i), leaves)
        return at
    if n.kind == STRING:
        raw = bytes(b[at:at + count])
        try:
            leaves.append({"path": path, "text": raw.decode("utf-8")})
        except UnicodeDecodeError:
            leaves.append({"path": path, "bytes": raw.hex()})
        return at + count
    number = int.from_bytes(b[at:at + n.size], "little", signed=2 <= n.kind <= 5)
    if n.kind == BOOL:
        bad(number > 1, part="value", byte=at, path=path)
        leaves.append({"path": path, "bool": number == 1})
    else:
        leaves.append({"path": path, "int": str(number)})
    return at + n.size


def whole(n, b):
    """Checks that bytes are a value, and returns its sections, state hash and leaves."""
    at, leaves, sections, text = 0, [], [], b"samestep root 1\n"
    for f in n.inner:
        end = value(f, b, at, f.name, leaves)
        sections.append({"name": f.name, "size": end - at, "sum": "%016x" % xxh64(b[at:end])})
        text += struct.pack("<QQ", end - at, xxh64(b[at:end]))
        at = end
    bad(at != len(b), part="value", byte=at, path="")
    return sections, xxh64(text), leaves


# --- records and the log -----------------------------------------------------

HEADER, KEYFRAME, FRAME, EMPTY, CHECKSUM, MISMATCH, END, NOTE, PANIC, EVENT = 1, 2, 3, 4, 5, 6, 7, 64, 66, 67
SYSTEM, U16, U32, U64 = 255, (1 << 16) - 1, (1 << 32) - 1, M
SCHEMAS = 512 << 10  # bytes of all together


class Log:
    """Reads records, one after the other, and keeps what they are relative to."""

    def __init__(self):
        self.stage, self.tick, self.last, self.header = "header", 0, {}, None

    def read(self, b, at):
        p = Pack(b, at)
        lobby = self.tick == 0 and self.header and self.header["engine"] != "samestep/1"
        most = 1 + 4 * (1 << 17 if lobby else 8192)
        n = p.array(1, (1 << 31) - 1)
        kind = p.uint(255)
        if kind == 0 or 8 <= kind < 64:
            raise Fault("unsupported")
        protocol = p.uint(U32) if kind == HEADER and n > 1 else 1
        if protocol != 1:
            raise Fault("unsupported")
        if n > most:
            raise Fault("limit")
        want = {HEADER: "header", KEYFRAME: self.stage if self.stage == "keyframe" else "log"}.get(kind, "log")
        bad(self.stage != want)
        r = {"kind": kind, "tick": self.tick}
        if kind == HEADER:
            r["protocol"] = protocol
        counts = {HEADER: (13,), KEYFRAME: (5,), EMPTY: (2,), CHECKSUM: (3,), MISMATCH: (4,), END: (2, 3)}
        if kind == FRAME and (n % 4 != 1 or n < 2) or kind != FRAME and n not in counts.get(kind, (2,)):
            raise Fault("corrupt")
        read = {HEADER: self.read_header, KEYFRAME: self.read_keyframe, FRAME: self.read_frame, EMPTY: self.read_empty,
                CHECKSUM: self.read_checksum, MISMATCH: self.read_mismatch, END: self.read_end}.get(kind, self.read_optional)
        read(p, r, n)
        r["raw"] = bytes(b[at:p.at])
        return r, p.at

    def read_header(self, p, r, n):
        r["engine"], r["game"], r["build"] = p.text(128), p.text(128), p.text(128)
        r["match"] = p.bytes(16)
        if len(r["match"]) != 16:
            raise Fault("corrupt")
        before = p.at
        r["platform"] = p.text(128)
        r["around"] = before, p.at
        p.array(6, 6)
        r["seed"], r["players"], r["tick_micros"], r["check_every"], r["keyframe_every"] = p.uint(U64), p.uint(255), p.uint(U32), p.uint(U16), p.uint(U32)
        r["relay"] = p.bool()
        if not 1 <= r["players"] <= 250 or not 1000 <= r["tick_micros"] <= 60000000 or r["check_every"] < 1:
            raise Fault("corrupt")
        r["config"], r["config_schema"], r["state_schema"] = p.bytes(1 << 20), p.bytes(SCHEMAS), p.bytes(SCHEMAS)
        count, before, r["commands"] = p.array(0, 3 * 4096), -1, []
        if count % 3:
            raise Fault("corrupt")
        for _ in range(count // 3):
            c = {"kind": p.uint(U16), "name": p.text(128), "schema": p.bytes(SCHEMAS)}
            if c["kind"] <= before:
                raise Fault("corrupt")
            before = c["kind"]
            r["commands"].append(c)
        result = r["result_schema"] = p.bytes(SCHEMAS)
        if len(r["config_schema"]) + len(r["state_schema"]) + len(result) + sum(len(c["schema"]) for c in r["commands"]) > SCHEMAS:
            raise Fault("limit")
        self.fits(schema(r["config_schema"]), r["config"])
        self.state = schema(r["state_schema"])
        self.result = schema(result) if result else None
        self.kinds = {c["kind"]: schema(c["schema"]) for c in r["commands"]}
        self.header, self.stage = r, "keyframe"

    def read_keyframe(self, p, r, n):
        r["tick"], r["state_hash"], r["last"], before = p.uint(U32), p.uint(U64), [], -1
        count = p.array(0, U32)
        if count % 2:
            raise Fault("corrupt")
        for _ in range(count // 2):
            player, sequence = self.player(p), p.uint(U32)
            if player <= before or sequence == 0:
                raise Fault("corrupt")
            before = player
            r["last"].append((player, sequence))
        r["state"] = p.bytes(256 << 20)
        if self.stage == "keyframe":
            tick, last = r["tick"], dict(r["last"])
        else:
            tick, last = self.tick, self.last
            bad(r["tick"] > tick or r["tick"] == tick and dict(r["last"]) != last)
        for player, _ in r["last"]:
            self.seat(player)
        hash_ = self.fits(self.state, r["state"])
        self.tick, self.last, self.stage = tick, last, "log"
        if hash_ != r["state_hash"]:
            raise Fault("corrupt")

    def read_frame(self, p, r, n):
        self.advance(1)
        r["tick"], r["commands"], before = self.tick, [], (-1, 0)
        for _ in range(n // 4):
            player, step, kind, b = self.player(p), p.uint(U32), p.uint(U16), p.bytes(16 << 10)
            sequence = self.last.get(player, 0) + step
            if step == 0 or sequence > U32 or (player, sequence) <= before:
                raise Fault("corrupt")
            self.last[player], before = sequence, (player, sequence)
            r["commands"].append({"player": player, "sequence": sequence, "kind": kind, "payload": b})
        for c in r["commands"]:
            self.command(c)

    def command(self, c):
        """Checks a command against the header."""
        b = c["payload"]
        if c["player"] != SYSTEM:
            self.seat(c["player"])
            bad(c["kind"] not in self.kinds)
            node = self.kinds[c["kind"]]
        elif self.header["engine"] != "samestep/1":
            return
        else:
            bad(not 1 <= c["kind"] <= 8)
            node = Node(STRUCT, 0, 1, "")
            node.inner = [Node(6 if c["kind"] <= 6 else 7, 0, 0, "")]
        try:
            bad(value(node, b, 0, "", []) != len(b))
        except Fault:
            raise Fault("invalid")
        if c["player"] == SYSTEM:
            n = int.from_bytes(b, "little")
            least, most = {7: (10, 1000), 8: (1, 250)}.get(c["kind"], (0, self.header["players"] - 1))
            bad(not least <= n <= most and not (c["kind"] == 6 and n == SYSTEM))

    def read_empty(self, p, r, n):
        r["empty"] = p.uint(65536)
        if r["empty"] == 0:
            raise Fault("corrupt")
        self.advance(r["empty"])
        r["tick"] = self.tick

    def read_checksum(self, p, r, n):
        r["tick"], r["state_hash"] = self.tick - p.uint(self.tick), p.uint(U64)

    def read_mismatch(self, p, r, n):
        r["tick"], r["player"], r["state_hash"] = self.tick - p.uint(self.tick), p.uint(249), p.uint(U64)
        self.seat(r["player"])

    def read_end(self, p, r, n):
        r["text"], self.stage = p.text(1024), "end"
        if n == 3:
            r["result"] = p.bytes(65536)
            bad(self.result is None)
            if r["result"]:
                self.fits(self.result, r["result"])

    def read_optional(self, p, r, n):
        b = p.bytes((1 << 31) - 1)
        if r["kind"] in (NOTE, EVENT):
            p, name = Pack(b), "topic" if r["kind"] == NOTE else "event"
            p.array(3, 3)
            r["player"], r[name], r["text"] = p.uint(255), p.text(128), p.text(1024)
            p.end()
        elif r["kind"] == PANIC:
            self.read_panic(Pack(b), r)

    def read_panic(self, p, r):
        n, before, commands = p.array(3, 3 + 4 * 8192), (-1, 0), []
        r["where"], r["text"], r["stack"] = p.text(128), p.text(1024), p.text(16384)
        if n % 4 != 3:
            raise Fault("corrupt")
        for _ in range(n // 4):
            player, sequence, kind, b = self.player(p), p.uint(U32), p.uint(U16), p.bytes(16384)
            if sequence <= self.last.get(player, 0) or (player, sequence) <= before:
                raise Fault("corrupt")
            before = (player, sequence)
            commands.append({"player": player, "sequence": sequence, "kind": kind, "payload": b})
        p.end()
        bad(self.tick == U32)
        for c in commands:
            self.command(c)
        r["panic"] = [dict(c, payload=c["payload"].hex()) for c in commands]

    def advance(self, n):
        bad(self.tick + n > U32)
        self.tick += n

    def player(self, p):
        n = p.uint(255)
        if 250 <= n < SYSTEM:
            raise Fault("corrupt")
        return n

    def fits(self, node, b):
        """Checks a value, and returns its state hash."""
        try:
            return whole(node, b)[1]
        except Fault:
            raise Fault("invalid")

    def seat(self, player):
        bad(player != SYSTEM and player >= self.header["players"])


# --- the container -----------------------------------------------------------

MAX_BLOCK, MAX_RECORD = 8 << 20, 7 << 20  # without states


class File:
    """Reads a replay file up to its first fault. Its records are in r, with where they stand."""

    def __init__(self, b):
        self.b, self.log, self.r, self.start, self.signatures, self.signed = b, Log(), [], 0, [], 0
        self.ruled, self.rules = False, None
        self.tick, self.marks, self.ended, self.index, self.spent, self.keyframes = 0, [], False, None, 0, 0
        self.fault = None
        try:
            self.prefix()
            while self.at < len(b):
                self.block()
            self.start = len(b)
            if not self.ended:
                raise Fault("torn")
        except Fault as f:
            f.where.setdefault("byte", self.start)
            f.where.setdefault("tick", self.tick)
            self.fault = f

    def prefix(self):
        magic = b"\x89SSR\r\n\x1a\n"
        if self.b[:8] != magic[:len(self.b)]:
            raise Fault("corrupt")
        for at, want in (8, 1), (12, 0):
            if len(self.b) >= at + 4 and struct.unpack_from("<I", self.b, at)[0] != want:
                raise Fault("unsupported")
        if len(self.b) < 32:
            raise Fault("torn")
        self.chain, self.at = xxh64(self.b[:32]), 32

    def head(self, at, chain):
        """Returns the kind, body and end of the block at an offset, and its check."""
        head = self.b[at + 1:at + 6]
        ends = [i for i, c in enumerate(head) if c < 0x80]
        if not ends and len(head) < 5:
            raise Fault("torn")
        if not ends:
            raise Fault("corrupt")
        size, body = uvarint(self.b, at + 1, 1 << 35)
        end = body + size
        if end + 8 > len(self.b):
            raise Fault("torn")
        check = struct.unpack_from("<Q", self.b, end)[0]
        if xxh64(struct.pack("<Q", chain) + self.b[at:end]) != check:
            raise Fault("corrupt")
        return self.b[at], self.b[body:end], end + 8, check

    def block(self):
        self.start = self.at
        try:
            kind, body, self.at, self.chain = self.head(self.start, self.chain)
        except Fault as f:
            if f.verdict == "torn" and self.valid_block_follows():
                raise Fault("corrupt")
            raise
        if kind < 64 and kind not in (1, 2):
            raise Fault("unsupported")
        if kind >= 64 and len(body) > MAX_BLOCK:
            raise Fault("limit")
        bad(kind < 64 and self.ended)
        bad(self.index is not None)
        if kind == 1:
            bad(not body)
            self.records(body)
        elif kind == 2:
            self.segment(body)
        elif kind == 64:
            self.read_index(body)
        elif kind == 65:
            self.signature(body)
        elif kind == 66:
            self.read_rules(body)

    def valid_block_follows(self):
        for at in range(self.start + 9, len(self.b)):
            if self.b[at] in (1, 2):
                try:
                    if self.head(at, struct.unpack_from("<Q", self.b, at - 8)[0])[1]:
                        return True
                except Fault:
                    pass
        return False

    def records(self, b, first=None):
        """Takes the records of a block; a segment says at which tick it begins."""
        at = states = 0
        while at < len(b):
            begins = self.log.stage == "keyframe"
            r, end = self.log.read(b, at)
            bad(begins and first not in (None, r["tick"]))
            bad(r["kind"] == HEADER and r["match"] != self.b[16:32])
            self.tick, self.ended = self.log.tick, r["kind"] == END
            if r["kind"] == KEYFRAME and r["tick"] == self.tick and not (self.marks and self.marks[-1][0] == self.tick):
                self.marks.append((r["tick"], self.start, at))
            if r["kind"] == HEADER:
                low, high = r["around"]
                r["bare"] = b[at:low] + b"\xa0" + b[high:end]
            state = len(r.get("state", b""))
            states, self.keyframes = max(states, state), self.keyframes + (r["kind"] == KEYFRAME)
            if end - at - state > MAX_RECORD or self.keyframes > 1 << 16:
                raise Fault("limit")
            self.r.append(r)
            at = end
        if len(b) > MAX_BLOCK + states:
            raise Fault("limit")

    def segment(self, body):
        first, at = uvarint(body, 0, U32)
        ticks, at = uvarint(body, at, U32 - first)
        size, at = uvarint(body, at, M)
        if size > 264 << 20:
            raise Fault("limit")
        if len(body) - at < 8 or size == 0:
            raise Fault("corrupt")
        check, data = struct.unpack_from("<Q", body, at)[0], body[at + 8:]
        if size > (64 << 10) + 1000 * len(data):
            raise Fault("limit")
        bad(self.log.stage in ("log", "end") and first != self.tick)
        one_frame(data)
        out = decompressed(data)
        if out is None or len(out) != size or xxh64(out) != check:
            raise Fault("corrupt")
        before = len(self.r)
        self.records(out, first)
        bad(self.tick != first + ticks)
        self.spent += size - sum(len(r.get("state", b"")) for r in self.r[before:])
        if self.spent > (32 << 20) + 100 * len(self.b):
            raise Fault("limit")

    def began(self):
        """Returns the tick of the first keyframe."""
        return next(r["tick"] for r in self.r if r["kind"] == KEYFRAME)

    def read_index(self, body):
        bad(not self.ended)
        try:
            count, at = uvarint(body, 0, len(body))
            marks, tick, offset = [], 0, 0
            for i in range(count):
                step, at = uvarint(body, at, U32)
                far, at = uvarint(body, at, len(self.b))
                where, at = uvarint(body, at, 64 << 20)
                bad(i and step == 0)
                tick, offset = tick + step, offset + far
                marks.append((tick, offset, where))
        except Fault:
            raise Fault("invalid")
        bad(count == 0 or body[at:] != struct.pack("<Q", self.start))
        bad(any(m not in self.marks for m in marks))
        self.index = marks

    def signature(self, body):
        bad(not self.ended or not body)
        self.signed += 1
        if self.signed > 16 or len(body) > 64 << 10:
            raise Fault("limit")
        if body[0] in (1, 2):
            bad(len(body) != 97 or any(s[1:33] == body[1:33] for s in self.signatures))
            self.signatures.append(body)

    def read_rules(self, body):
        bad(not self.ended or self.ruled or not body)
        self.ruled = True
        if body[0] != 1:
            return
        bad(len(body) < 34)
        try:
            size, at = uvarint(body, 33, M)
        except Fault:
            raise Fault("invalid")
        if size > 32 << 20:
            raise Fault("limit")
        bad((size == 0) != (at == len(body)))
        self.rules = body[1:33]


@functools.lru_cache(256)
def decompressed(data):
    """Returns the contents of a zstd frame, or None. Many files of the suite have the same segments."""
    out = subprocess.run(["zstd", "-dcq", "--memory=16MB"], input=data, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return None if out.returncode else out.stdout


def one_frame(b):
    """Checks that bytes are exactly one zstd frame (RFC 8878)."""
    if len(b) < 6 or b[:4] != b"\x28\xb5\x2f\xfd" or b[4] & 0x0B:  # reserved bit, dictionary
        raise Fault("corrupt")
    single, at = b[4] & 0x20, 5
    if not single:
        window = (8 + (b[5] & 7)) << 7 + (b[5] >> 3)
        if window > 16 << 20:
            raise Fault("corrupt")
        at = 6
    at += (1 if single else 0, 2, 4, 8)[b[4] >> 6]
    last = 0
    while not last:
        if at + 3 > len(b):
            raise Fault("corrupt")
        head = int.from_bytes(b[at:at + 3], "little")
        last, kind, size = head & 1, head >> 1 & 3, head >> 3
        at += 3 + (1 if kind == 1 else size)
    if at + (4 if b[4] & 4 else 0) != len(b):
        raise Fault("corrupt")


# --- the content hash and the conformance game -------------------------------


def sized(b):
    return struct.pack("<I", len(b)) + b


def content(records, upto=None):
    """Returns the content hash, up to a tick or of the whole match."""
    h, late, tick, began = hashlib.sha256(), b"", 0, False
    for r in records:
        kind = r["kind"]
        if upto is not None and (kind == FRAME and r["tick"] > upto or kind == END):
            break
        if upto is not None and kind == EMPTY and r["tick"] > upto:
            if tick < upto:
                h.update(late)
                late, tick = b"", upto
            break
        if kind in (FRAME, EMPTY, END):
            h.update(late)
            late, tick = b"", tick if kind == END else r["tick"]
        if kind == HEADER:
            h.update(b"\1" + sized(r["bare"]))
        elif kind == KEYFRAME and not began:
            began, tick = True, r["tick"]
            h.update(struct.pack("<BIQI", 2, r["tick"], r["state_hash"], len(r["last"])))
            h.update(b"".join(struct.pack("<BI", *pair) for pair in r["last"]) + sized(r["state"]))
        elif kind == FRAME:
            h.update(struct.pack("<BII", 3, r["tick"], len(r["commands"])))
            for c in r["commands"]:
                h.update(struct.pack("<BIH", c["player"], c["sequence"], c["kind"]) + sized(c["payload"]))
        elif kind == CHECKSUM:
            late += struct.pack("<BIQ", 5, r["tick"], r["state_hash"])
        elif kind == MISMATCH:
            late += struct.pack("<BIBQ", 6, r["tick"], r["player"], r["state_hash"])
        elif kind == END:
            h.update(b"\7" + sized(r["text"].encode()))
            if "result" in r:
                h.update(b"\10" + sized(r["result"]))
    h.update(struct.pack("<BI", 0, tick))
    return h.hexdigest(), tick


# The schema of the result of the game with a goal.
VICTORY = struct.pack("<I", 3) + b"".join(struct.pack("<BBII", k, 0, n, len(name)) + name for k, n, name in ((13, 2, b""), (6, 0, b"Seat"), (4, 0, b"Coins")))


def identity(h):
    """Checks that a match is one of the conformance game."""
    for field, want in (("protocol", (1,)), ("engine", ("samestep/1",)), ("game", ("conform",)), ("build", ("1", "goal"))):
        if h[field] not in want:
            raise Fault("identity", field=field)
    for field, b, want in (("state schema", h["state_schema"], 0x4CD083AC75D5CB95), ("configuration schema", h["config_schema"], 0x22647C0AC6403EE7)):
        if xxh64(b) != want:
            raise Fault("identity", field=field)
    if [(c["kind"], c["name"]) for c in h["commands"]] != [(1, "add"), (2, "say")]:
        raise Fault("identity", field="command")
    for c, want in zip(h["commands"], (0x36656543133DF5EE, 0xC715CE858D518D92)):
        if xxh64(c["schema"]) != want:
            raise Fault("identity", field="schema of command " + c["name"])
    if h.get("result_schema", b"") != (VICTORY if h["build"] == "goal" else b""):
        raise Fault("identity", field="result schema")


class Game:
    """The state of the conformance game."""

    def __init__(self, node, b):
        leaves = whole(node, b)[2]
        self.node, self.coins = node, [int(x["int"]) for x in leaves if x["path"].startswith("Coins")]
        named = {x["path"]: x for x in leaves}
        self.ticks, self.system, last = int(named["Ticks"]["int"]), int(named["System"]["int"]), named["Last"]
        self.last = last["text"].encode() if "text" in last else bytes.fromhex(last["bytes"])

    def step(self, commands):
        self.ticks = self.ticks + 1 & U32
        for c in commands:
            if c["player"] == SYSTEM:
                self.system = self.system + 1 & U16
            elif c["kind"] == 1:
                coins = self.coins[c["player"]] + int.from_bytes(c["payload"], "little", signed=True)
                self.coins[c["player"]] = (coins + (1 << 31) & U32) - (1 << 31)
            else:
                self.last = c["payload"][4:]

    def end(self, start):
        """Returns the result with which the rules of the game with a goal end the match, or None."""
        for seat, coins in enumerate(self.coins):
            if coins >= start + 1000:
                return struct.pack("<Bi", seat, coins)
        return b"" if self.last == b"draw" else None

    def hash(self):
        b = struct.pack("<II", self.ticks, len(self.coins)) + b"".join(struct.pack("<i", c) for c in self.coins)
        return whole(self.node, b + struct.pack("<H", self.system) + sized(self.last))[1]


def simulate(file):
    """Simulates a match of the conformance game, and returns its last state hash."""
    game, hashes, ended = None, {}, None
    decides = file.r[0].get("result_schema") and not file.r[0]["relay"]
    start = struct.unpack("<i", file.r[0]["config"])[0]
    tick = 0
    for r in file.r:
        if r["kind"] in (FRAME, EMPTY, END) and decides and (ended is not None if r["kind"] != END else tick and ended != r.get("result")):
            raise Fault("desync", tick=tick)
        if r["kind"] == KEYFRAME and game is None:
            game = Game(file.log.state, r["state"])
            hashes[r["tick"]] = game.hash()
        elif r["kind"] in (FRAME, EMPTY):
            for left in reversed(range(r.get("empty", 1))):
                game.step(r.get("commands", ()))
                tick = r["tick"] - left
                hashes[tick] = game.hash()
                if decides:
                    if ended is not None:
                        raise Fault("desync", tick=tick - 1)
                    ended = game.end(start)
        elif r["kind"] in (CHECKSUM, KEYFRAME) and hashes.get(r["tick"], r["state_hash"]) != r["state_hash"]:
            raise Fault("desync", tick=r["tick"], got="%016x" % hashes[r["tick"]], want="%016x" % r["state_hash"])
    return game.hash()


# --- the suite ---------------------------------------------------------------


def run_replay(b):
    file = File(b)
    if file.r:
        identity(file.r[0])
    if file.marks:
        if file.tick - file.began() > min(262144 + 64 * len(b), 1 << 24):
            raise Fault("limit")
        hash_ = simulate(file)
    if file.fault:
        raise file.fault
    count = lambda kind: sum(r["kind"] == kind for r in file.r)
    facts = {
        "ticks": file.tick, "frames": count(FRAME), "checksums": count(CHECKSUM), "mismatches": count(MISMATCH),
        "commands": sum(len(r["commands"]) for r in file.r if r["kind"] == FRAME), "end": file.r[-1].get("text", ""),
        "keyframes": [r["tick"] for r in file.r if r["kind"] == KEYFRAME], "seekable": [m[0] for m in file.marks],
        "content": content(file.r)[0], "state_hash": "%016x" % hash_,
    }
    if "result" in file.r[-1]:
        result = file.r[-1]["result"]
        facts["result"] = {x["path"]: int(x["int"]) for x in whole(file.log.result, result)[2]} if result else None
    upto, tick = content(file.r, (file.began() + file.tick) // 2)
    facts["upto"] = {"tick": tick, "content": upto}
    if file.signatures:
        text = b[16:32] + bytes.fromhex(facts["content"])
        texts = {1: b"samestep replay 1\n" + text}
        if file.rules:
            texts[2] = b"samestep replay 2\n" + text + file.rules
        facts["signed_by"] = sorted(s[1:33].hex() for s in file.signatures if s[0] in texts and signed(s[1:33], texts[s[0]], s[33:]))
    return facts


def hex_lines(text):
    for line in text.decode().splitlines():
        if line and line[0] != "#":
            label, _, digits = line.rpartition(":")
            yield label, bytes.fromhex(digits.strip())


def run_record(text):
    log = Log()
    tick = 0
    for _, b in hex_lines(text):
        try:
            r, end = log.read(b, 0)
            if end != len(b):
                raise Fault("corrupt")
        except Fault as f:
            raise Fault(f.verdict, tick=tick)
        tick = log.tick
    r = {k: v for k, v in r.items() if k not in ("raw", "around")}
    if r["kind"] == HEADER:
        del r["tick"]
        r["seed"] = str(r["seed"])
    if "state_hash" in r:
        r["state_hash"] = "%016x" % r["state_hash"]
    if "last" in r:
        r["last"] = [{"player": p, "sequence": s} for p, s in r["last"]]
    for c in r.get("commands", ()):
        c.pop("value", None)
    return plain(r)


def plain(v):
    """Turns bytes into hexadecimal text."""
    if isinstance(v, bytes):
        return v.hex()
    if isinstance(v, dict):
        return {k: plain(x) for k, x in v.items()}
    return [plain(x) for x in v] if isinstance(v, list) else v


def run_schema(text):
    lines = list(hex_lines(text))
    try:
        node = schema(lines[0][1])
    except Fault:
        raise Fault("invalid", part="schema")
    facts = {"fingerprint": "%016x" % xxh64(lines[0][1]), "sections": node.count}
    try:
        for label, b in lines[1:]:
            facts["sections"], hash_, facts["leaves"] = whole(node, b)
            facts["state_hash"] = "%016x" % hash_
    except Fault as f:
        raise Fault(f.verdict, **dict(facts, **f.where))
    return facts


def suite(folder):
    with open(os.path.join(folder, "index.json")) as f:
        index = json.load(f)
    assert index["format"] == 1
    run, wrong = {"replay": run_replay, "record": run_record, "schema": run_schema}, 0
    cases = [c for c in index["cases"] if c["kind"] in run]
    for c in cases:
        with open(os.path.join(folder, c["file"]), "rb") as f:
            b = f.read()
        try:
            verdict, facts = "ok", run[c["kind"]](b)
        except Fault as f:
            verdict, facts = f.verdict, f.where
        if (verdict, facts) != (c["verdict"], c.get("expect", {})):
            wrong += 1
            print("%s: got %s %s, want %s %s" % (c["id"], verdict, json.dumps(facts), c["verdict"], json.dumps(c.get("expect", {}))))
    print("%d cases, %d differ" % (len(cases), wrong))
    return 1 if wrong else 0


def main(arguments):
    if arguments[0] == "--suite":
        return suite(arguments[1])
    with open(arguments[0], "rb") as f:
        file = File(f.read())
    if file.fault:
        print(file.fault.verdict, json.dumps(file.fault.where))
        return 1
    print(file.tick, sum(len(r["commands"]) for r in file.r if r["kind"] == FRAME), content(file.r)[0])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
