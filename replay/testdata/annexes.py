"""Reads datagrams, views, messages of modules, recordings and flight records by docs/spec alone, with nothing but Python's own library.

    python3 annexes.py --suite FOLDER      runs the cases of the conformance suite in a folder
"""

import base64
import hashlib
import json
import os
import re
import struct
import sys
import zlib

from reader import ARRAY, BOOL, SLICE, STRING, STRUCT, Fault, Pack, hex_lines, schema, uvarint, whole, xxh64

U16, U32, U63, U64 = (1 << 16) - 1, (1 << 32) - 1, (1 << 63) - 1, (1 << 64) - 1


def must(condition, **where):
    if not condition:
        raise Fault("malformed", **where)


# --- datagrams ---------------------------------------------------------------


def positive(p, most=U32):
    n = p.uint(most)
    must(n)
    return n


def run_datagram(text):
    b = b"".join(b for _, b in hex_lines(text))
    must(0 < len(b) <= 1200)
    p = Pack(b)
    kind = p.uint(255)
    must(kind in (1, 2))
    facts = {"number": positive(p), "seen": p.uint(U32)}
    facts["count"] = p.uint(facts["seen"])
    must(facts["count"] or not facts["seen"])
    if kind == 1:
        n = p.array(0, 64)
        must(n % 2 == 0)
        facts["receipts"] = [{"sequence": positive(p), "tick": positive(p)} for _ in range(n // 2)]
        facts["records"] = items(p, p.uint(U63))
        return facts
    position, above, tick = p.uint(U63), p.uint(U63), p.uint(U32)
    must(position or not above and not tick)
    facts.update(position=str(position), above=str(above), tick=tick, commands=[])
    sequence = 0
    while p.at < len(b):
        sequence += positive(p, U32 - sequence) if sequence < U32 else must(False)
        facts["commands"].append({"sequence": sequence, "kind": p.uint(U16), "payload": p.bytes(1200).hex()})
    return facts


def items(p, first):
    records, at, before = [], first, "gap"
    while p.at < len(p.b):
        start, c = p.at, p.b[p.at]
        if c & 0xF0 == 0x90 or c in (0xDC, 0xDD):
            for _ in range(p.array(1, U32)):
                scalar(p)
            record, kind = p.b[start:p.at], "record"
            must(record != b"\x92\x04\x01")
            records.append((at, record))
            at += 1
        else:
            n = p.uint(190)
            kind = "run" if 1 <= n <= 64 else "gap"
            must(kind != before and (kind == "run" or n >= 128))
            if kind == "run":
                records += [(at + i, b"\x92\x04\x01") for i in range(n)]
            at += n if kind == "run" else n - 127
        before = kind
        must(at - first <= 64)
    must(before != "gap" if first else not records)
    return [{"position": str(i), "record": r.hex()} for i, r in records]


def scalar(p):
    c = p.b[p.at] if p.at < len(p.b) else must(False)
    if c < 0x80 or 0xCC <= c <= 0xCF:
        p.uint(U64)
    elif 0xC4 <= c <= 0xC6:
        p.bytes(U32)
    else:
        p.text(U32)


# --- views -------------------------------------------------------------------


class Table:
    """A list of rows of numbers; without a list, the one row of the fields outside of lists."""

    def __init__(self, path, fixed, size):
        self.path, self.fixed, self.size, self.columns, self.id, self.rows = path, fixed, size, [], None, []

    def add(self, n, path):
        if n.kind == STRUCT:
            for f in n.inner:
                self.add(f, path + "." + f.name)
        elif n.kind == ARRAY:
            for i in range(n.count):
                self.add(n.inner[0], "%s[%d]" % (path, i))
        else:
            must(n.kind not in (STRING, SLICE) and len(self.columns) < 64)
            self.columns.append({"path": self.path + path, "node": n, "shift": 0})

    def zero(self):
        return [0] * len(self.columns)


class View:
    def __init__(self, b):
        size, at = uvarint(b, 0, 1 << 20)
        must(size <= len(b) - at)
        self.root = schema(b[at:at + size])
        self.tables = [Table("", 1, 0)]
        self.fields(self.root, "")
        self.tables[0].rows = [self.tables[0].zero()]
        for t in self.tables[1:]:
            t.rows = [t.zero() for _ in range(t.fixed)]
        at += size
        n, at = uvarint(b, at, 1024)
        for _ in range(n):
            size, at = uvarint(b, at, len(b))
            must(size + 2 <= len(b) - at)
            self.tag(b[at:at + size].decode(), *struct.unpack_from("<Bb", b, at + size))
            at += size + 2
        must(at == len(b))

    def fields(self, n, path):
        for f in n.inner:
            to = path + "." + f.name if path else f.name
            if f.kind == STRUCT:
                self.fields(f, to)
            elif f.kind in (ARRAY, SLICE):
                must(len(self.tables) <= 64)
                t = Table(to + "[]", f.count if f.kind == ARRAY else 0, f.inner[0].size)
                t.add(f.inner[0], "")
                self.tables.append(t)
            else:
                must(f.kind != STRING and len(self.tables[0].columns) < 64)
                self.tables[0].columns.append({"path": to, "node": f, "shift": 0})

    def tag(self, path, is_id, step):
        must(is_id <= 1)
        found = [(t, i, c) for t in self.tables for i, c in enumerate(t.columns) if re.match(re.escape(path) + r"($|\.|\[)", c["path"])]
        must(found)
        for t, i, c in found:
            n = c["node"]
            if is_id:
                must(t is not self.tables[0] and not t.fixed and t.id is None and c["path"] == path and n.kind != BOOL and step == -128)
                t.id = i
            if step != -128:
                must(n.kind != BOOL and 0 <= n.fraction + step < 8 * n.size)
                c["shift"] = n.fraction + step

    def apply(self, b):
        r, left = Numbers(b), 8 << 20
        for i, t in enumerate(self.tables):
            if i == 0:
                self.row(r, t, t.rows[0], True)
            elif t.id is None:
                if not t.fixed:
                    n = r.number()
                    must(n * t.size <= left)
                    t.rows = t.rows[:n] + [t.zero() for _ in range(n - len(t.rows))]
                for at in r.ascending(len(t.rows)):
                    self.row(r, t, t.rows[at], False)
            else:
                self.keyed(r, t)
            left -= t.size * len(t.rows)
            must(left >= 0)
        must(r.at == len(b))

    def keyed(self, r, t):
        changed, removed = set(), {}
        for at in r.ascending(len(t.rows)):
            changed.add(at)
            self.row(r, t, t.rows[at], False)
        for at in r.ascending(len(t.rows)):
            must(at not in changed)
            removed[at] = t.rows[at][t.id]
        t.rows = [row for i, row in enumerate(t.rows) if i not in removed]
        signed = 2 <= t.columns[t.id]["node"].kind <= 5
        for key in r.ascending(1 << 64, signed):
            row = t.zero()
            row[t.id] = key
            must(fits(t.columns[t.id], row[t.id]) and row[t.id] not in removed.values() and all(row[t.id] != o[t.id] for o in t.rows))
            self.row(r, t, row, True)
            t.rows.append(row)
        t.rows.sort(key=lambda row: row[t.id])

    def row(self, r, t, row, added):
        mask = r.number()
        must(mask < 1 << len(t.columns) and (mask or added) and not (t.id is not None and mask >> t.id & 1))
        for i, c in enumerate(t.columns):
            if not mask >> i & 1:
                continue
            if c["node"].kind == BOOL:
                row[i] ^= 1
                continue
            d = r.number()
            d = d >> 1 ^ -(d & 1)
            row[i] += d
            must(d and fits(c, row[i]))

    def bytes(self):
        return self.value(self.root, "", iter(self.tables[0].columns), iter(self.tables[0].rows[0]))

    def value(self, n, path, columns, numbers):
        if n.kind == STRUCT:
            return b"".join(self.value(f, path + "." + f.name if path else f.name, columns, numbers) for f in n.inner)
        if n.kind in (ARRAY, SLICE) and any(t.path == path + "[]" for t in self.tables):
            t = next(t for t in self.tables if t.path == path + "[]")
            rows = b"".join(b"".join(number(c, v) for c, v in zip(t.columns, row)) for row in t.rows)
            return (struct.pack("<I", len(t.rows)) if n.kind == SLICE else b"") + rows
        return number(next(columns), next(numbers))


def number(c, v):
    return ((v << c["shift"]) & (1 << 8 * c["node"].size) - 1).to_bytes(c["node"].size, "little")


def fits(c, v):
    bits = 8 * c["node"].size - c["shift"]
    return -1 << bits - 1 <= v < 1 << bits - 1 if 2 <= c["node"].kind <= 5 else 0 <= v < 1 << bits


class Numbers:
    def __init__(self, b):
        self.b, self.at = b, 0

    def number(self):
        n, self.at = uvarint(self.b, self.at, U64)
        return n

    def ascending(self, end, signed=False):
        at = None
        for _ in range(self.number()):
            n = self.number()
            at = n + at + 1 if at is not None else n >> 1 ^ -(n & 1) if signed else n
            must(at < end)
            yield at


def run_view(text):
    lines = list(hex_lines(text))
    try:
        view = View(lines[0][1])
    except (Fault, UnicodeDecodeError):
        raise Fault("malformed", part="plan")
    for i, (_, b) in enumerate(lines[1:]):
        try:
            view.apply(b)
        except Fault:
            raise Fault("malformed", part="delta", delta=i + 1)
    return {"view": view.bytes().hex()}


# --- types as text, and the messages of modules ------------------------------

KINDS = dict(bool=1, int8=2, int16=3, int32=4, int64=5, uint8=6, byte=6, uint16=7, uint32=8, uint64=9, string=10, float32=14, float64=15)
TOKEN = re.compile(r"[ \t\r]*(\n|[A-Za-z_]\w*|[0-9]+|[\[\]{};,])")


def type_of(text):
    """Returns the nodes of a schema by its text."""
    tokens, at = [], 0
    while text[at:].strip():
        m = TOKEN.match(text, at)
        if not m:
            raise Fault("invalid")
        tokens.append(m[1])
        at = m.end()
    while "\n" in tokens[:1]:
        tokens.pop(0)
    if tokens[:1] != ["struct"]:
        raise Fault("invalid")
    nodes = one(tokens, "", 1)
    if any(t != "\n" for t in tokens):
        raise Fault("invalid")
    schema(describe(without_floats(nodes)))
    return nodes


def without_floats(nodes):
    """A float has the size of an integer."""
    return [({14: 8, 15: 9}.get(k, k), c, n) for k, c, n in nodes]


def take(tokens, *wanted):
    if not tokens or wanted and tokens[0] not in wanted:
        raise Fault("invalid")
    return tokens.pop(0)


def skip(tokens):
    while tokens and tokens[0] == "\n":
        tokens.pop(0)


def one(tokens, name, depth):
    word = take(tokens)
    if word == "[":
        count = 0
        if tokens[:1] != ["]"]:
            size = take(tokens)
            ok(size.isdigit() and 0 < int(size) <= U32)
            count = int(size)
        take(tokens, "]")
        return [(ARRAY if count else SLICE, count, name)] + one(tokens, "", depth + 1)
    if word in KINDS:
        return [(KINDS[word], 0, name)]
    if word != "struct" or depth > 32:
        raise Fault("invalid")
    take(tokens, "{")
    inner, names = [], []
    skip(tokens)
    while tokens[:1] != ["}"]:
        row = [take(tokens)]
        while tokens[:1] == [","]:
            take(tokens)
            row.append(take(tokens))
        start = list(tokens)
        for n in row:
            tokens[:] = start
            inner += one(tokens, n, depth + 1)
        names += row
        if tokens[:1] != ["}"]:
            take(tokens, ";", "\n")
        skip(tokens)
    take(tokens, "}")
    if len(set(names)) < len(names) or not names and depth > 1 or any(not re.match(r"[A-Za-z_]", n) for n in names):
        raise Fault("invalid")
    return [(STRUCT, len(names), name)] + inner


def describe(nodes):
    return struct.pack("<I", len(nodes)) + b"".join(struct.pack("<BBII", k, 0, c, len(n.encode())) + n.encode() for k, c, n in nodes)


def check(nodes, b):
    """Checks that bytes are a value of a type."""
    whole(schema(describe(without_floats(nodes))), b)


COMMAND = "struct { Tick uint32; Player uint8; Kind uint16; Sequence uint32; Payload []uint8 }"
OUTCOME = "struct { Ended bool; Result []uint8; Draws []struct { Purpose string; Entity uint32; Phase string }; Phases []struct { Name string; Hash uint64; Sections []uint64 } }"
MESSAGES = {
    "match": "struct { Seed uint64; Players uint8; TickMicros uint32; Config []uint8 }",
    "assets": "struct { Assets []struct { Name, SHA256 string; Size uint32 } }",
    "contents": "struct { Contents []struct { Bytes []uint8 } }",
    "state": "struct { Tick uint32; Canonical []uint8 }",
    "command": COMMAND,
    "frame": "struct { Tick uint32; Draws, Phases bool; Commands []" + COMMAND + " }",
    "outcome": OUTCOME,
    "answer": "struct { Outcome " + OUTCOME + "; Refusals []struct { Player uint8; Sequence uint32; Reason string } }",
}


def run_abi(text):
    (name, b), = hex_lines(text)
    try:
        return {"leaves": whole(schema(describe(type_of(MESSAGES[name]))), b)[2]}
    except Fault:
        raise Fault("malformed")


# --- recordings --------------------------------------------------------------

NAME, TEXT, TICK = (1, 128), (0, 1024), 2147483647
LINES = {"sum": {"t", "p", "sum", "sections"}, "state": {"t", "p", "state", "more"}, "note": {"t", "p", "note", "text"}, "gap": {"t", "gap"},
         "order": {"t", "order"}, "k": {"t", "p", "s", "k", "d"}, "end": {"t", "end"}}


def ok(condition):
    if not condition:
        raise Fault("invalid")


def whole_number(v, least, most):
    ok(type(v) is int and least <= v <= most)
    return v


def sized(v, bounds):
    ok(type(v) is str and bounds[0] <= len(v.encode("utf-8", "surrogatepass")) <= bounds[1])
    return v


def digits(v, *lengths):
    ok(type(v) is str and len(v) in lengths and re.fullmatch("[0-9a-fA-F]+", v))
    return v.lower()


def binary(v):
    ok(type(v) is str)
    try:
        b = base64.b64decode(v, validate=True)
    except ValueError:
        raise Fault("invalid")
    ok(base64.b64encode(b).decode() == v)
    return b


class Cut(Exception):
    pass


def fields_of(line, last):
    def pairs(all):
        ok(len({k for k, _ in all}) == len(all) and all_lower(all))
        return dict(all)

    def all_lower(all):
        return not any(v is None or v is False or isinstance(v, dict) for _, v in all) and not any(re.search("[^a-z_]", k) for k, _ in all)

    try:
        text = line.decode("utf-8")
        json.loads(text)  # whether it is cut
        v = json.loads(text, object_pairs_hook=pairs)
    except (UnicodeDecodeError, ValueError):
        if last:
            raise Cut()
        raise Fault("invalid")
    ok(isinstance(v, dict) and len(line) <= 1 << 20)
    ok(not any(0xD800 <= ord(c) < 0xE000 for c in json.dumps(v, ensure_ascii=False)))
    return v


def run_recording(b):
    if b[:2] == b"\x1f\x8b":
        b = zlib.decompressobj(31).decompress(b)
    b = b[3:] if b[:3] == b"\xef\xbb\xbf" else b
    ok(not b.startswith(b"\xef\xbb\xbf"))
    lines = b.split(b"\n")
    complete = b.endswith(b"\n")
    for _ in range(2):  # the empty text after the last line end, and an empty line
        if lines and not lines[-1].strip():
            lines.pop()
            complete = True
    ok(lines)
    try:
        version = json.loads(lines[0])["log"]
    except (ValueError, TypeError, LookupError):
        version = None
    if type(version) is int and version != 1:
        raise Fault("unsupported")
    r = Recording(fields_of(lines[0], False), lines[0])
    ended = False
    for i, line in enumerate(lines[1:], 1):
        ok(line.strip() and not ended)
        try:
            ended = r.line(fields_of(line, i == len(lines) - 1 and not complete))
        except Cut:
            break
    r.finish()
    ok(r.parts is None or not ended)
    facts = r.facts()
    if not ended:
        raise Fault("torn", **facts)
    return facts


class Recording:
    def __init__(self, h, line):
        ok(set(h) <= {"log", "title", "tick_rate_hz", "players", "match", "by", "build", "platform", "sections", "state"})
        ok(h.get("log") == 1 and type(h.get("title", "")) is str)
        self.players = whole_number(h.get("players"), 1, 250)
        rate = h.get("tick_rate_hz")
        ok(type(rate) in (int, float) and 0 < rate <= 1000)
        text = re.search(rb'"tick_rate_hz"\s*:\s*([-+.0-9eE]+)', line)[1].decode()
        ok(len(text) <= 32)
        self.micros = min(int(1e6 / rate + 0.5), 60_000_000)
        for f in ("match", "build", "platform"):
            if f in h:
                sized(h[f], NAME)
        self.by = whole_number(h["by"], 0, self.players - 1) if "by" in h else None
        self.sections = h.get("sections", [])
        ok(type(self.sections) is list and ("sections" not in h or 1 <= len(self.sections) <= 64) and len(set(map(str, self.sections))) == len(self.sections))
        for s in self.sections:
            sized(s, NAME)
        self.type = type_of(sized(h["state"], (0, 64 << 10))) if "state" in h else None
        self.tick = self.after = self.begins = 0
        self.commands, self.size, self.last, self.sums, self.states, self.parts = [], 0, {}, {}, set(), None
        self.ran, self.own, self.lowest, self.gaps, self.orders, self.long = [], set(), [], [], [], {}
        self.phases, self.at = [], None
        self.counts = {"commands": 0, "checksums": 0, "states": 0, "notes": 0}

    def line(self, l):
        kinds = [k for k in LINES if k in l]
        ok(len(kinds) == 1)
        kind = kinds[0]
        ok(set(l) <= LINES[kind])
        t = whole_number(l.get("t"), 0, TICK)
        p = whole_number(l["p"], 0, self.players - 1) if "p" in l else None
        ok(p is not None or kind in ("note", "gap", "order", "end"))
        if kind in ("k", "note", "gap", "end"):
            ok(t >= self.tick and (kind == "note" or t >= self.after))
        ok(self.parts is None or kind == "state" and self.parts[0] == (t, p))
        self.tick = max(self.tick, t)
        if kind == "k":
            self.command(t, p, l)
        elif kind == "sum":
            self.checksum(t, p, l)
        elif kind == "state":
            self.state(t, p, l)
        elif kind == "note":
            sized(l["note"], NAME)
            sized(l.get("text"), TEXT)
            self.counts["notes"] += 1
            if l["note"] == "phases" and p == self.by:
                self.phase(t, l["text"])
        elif kind == "gap":
            to = whole_number(l["gap"], t, TICK - 1)
            self.gaps.append({"from": t, "to": to})
            self.tick, self.after = max(self.tick, to), to + 1
            self.begins = to + 1 if t == 0 else self.begins
        elif kind == "order":
            self.orders.append({"tick": t, "sum": digits(l["order"], 16)})
        return kind == "end"

    def phase(self, t, text):
        if self.at != t:
            self.at, self.room = t, {"=": 64, "#": 64}
        items = [re.fullmatch(r"([A-Za-z0-9._/:-]{1,64})(?:(=)([0-9a-f]{16})|(#)(0|[1-9][0-9]{0,19}))", item) for item in text.split(" ")]
        if not all(i and int(i[5] or 0) < 1 << 64 for i in items):
            return
        for i in items:
            sign = i[2] or i[4]
            if self.room[sign]:
                self.room[sign] -= 1
                self.phases.append({"tick": t, "phase": i[1], "sum": i[3]} if i[2] else {"tick": t, "stream": i[1], "count": i[5]})

    def command(self, t, p, l):
        if self.commands and self.commands[0][0] != t:
            self.finish()
        s, d = whole_number(l.get("s"), 1, U32), binary(l.get("d"))
        whole_number(l["k"], 0, U16)
        self.commands.append((t, p, s))
        self.size += len(d)
        ok(len(self.commands) <= (131072 if t == 0 else 8192) and self.size <= 4 << 20)
        self.ran.append(t)
        self.lowest.append(t)
        self.counts["commands"] += 1

    def finish(self):
        players = bytes(p for _, p, _ in self.commands)
        if list(players) != sorted(players):
            self.orders.append({"tick": self.commands[0][0], "sum": "%016x" % xxh64(players)})
        for _, p, s in sorted(self.commands, key=lambda c: c[2]):
            ok(s > self.last.get(p, 0))
            self.last[p] = s
        self.commands, self.size = [], 0

    def checksum(self, t, p, l):
        s = digits(l["sum"], 16, 32)
        if "sections" in l:
            ok(type(l["sections"]) is list and len(l["sections"]) == len(self.sections))
            for v in l["sections"]:
                digits(v, 16)
        if len(s) == 32:
            self.long[s] = s = "%016x" % int.from_bytes(hashlib.sha256(bytes.fromhex(s)).digest()[:8], "little")
        if (t, p) in self.sums:
            ok(self.sums[t, p] == s)
            return
        self.sums[t, p] = s
        if self.by in (None, p):
            self.own.add(t)
        self.lowest.append(t)
        self.counts["checksums"] += 1

    def state(self, t, p, l):
        ok(self.type and l.get("more", True) is True)
        b = (self.parts[1] if self.parts else b"") + binary(l["state"])
        ok(len(b) <= 8 << 20)
        if "more" in l:
            self.parts = (t, p), b
            return
        self.parts = None
        ok((t, p) not in self.states)
        self.states.add((t, p))
        check(self.type, b)
        self.lowest.append(t)
        self.counts["states"] += 1

    def facts(self):
        own, gaps = sorted(self.own), self.gaps
        steps = sorted(b - a for a, b in zip(own, own[1:]))
        every = steps[len(steps) // 2] if len(steps) > 1 else 0
        every = every if 10 * steps.count(every) >= 9 * len(steps) else 0
        first = self.begins
        if every and own[0] > every:
            first = max(first, min(self.lowest))
        if every and not gaps:
            gaps = []
            for a, b in zip(own, own[1:]):
                marks = [a] + sorted(set(t for t in self.ran if a < t < b)) + [b]
                gaps += [{"from": x + 1, "to": y - 1} for x, y in zip(marks, marks[1:]) if (y - x) // every > 2]
        facts = dict(self.counts, players=self.players, tick_micros=self.micros, first=first, last=self.tick, gaps=gaps, orders=self.orders)
        if self.phases:
            facts["phases"] = self.phases
        if self.long:
            facts["long"] = self.long
        if self.type:
            facts["state"] = "%016x" % xxh64(describe(self.type))
        return facts


# --- flight records ----------------------------------------------------------

SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
    "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e")
PRIME32 = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D)
PRIME64 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)


def read64(b, at):
    return int.from_bytes(b[at:at + 8], "little")


def fold(a, b):
    n = a * b
    return (n ^ n >> 64) & U64


def fold16(b, at, secret):
    return fold(read64(b, at) ^ read64(SECRET, secret), read64(b, at + 8) ^ read64(SECRET, secret + 8))


def avalanche(h):
    h = (h ^ h >> 37) * 0x165667919E3779F9 & U64
    return h ^ h >> 32


def xxh64_avalanche(h):
    h = (h ^ h >> 33) * PRIME64[1] & U64
    h = (h ^ h >> 29) * PRIME64[2] & U64
    return h ^ h >> 32


def xxh3(b):
    """XXH3 with 64 bits and the seed 0, as its specification has it."""
    n = len(b)
    if n == 0:
        return xxh64_avalanche(read64(SECRET, 56) ^ read64(SECRET, 64))
    if n <= 3:
        combined = b[-1] | n << 8 | b[0] << 16 | b[n >> 1] << 24
        return xxh64_avalanche(combined ^ int.from_bytes(SECRET[:4], "little") ^ int.from_bytes(SECRET[4:8], "little"))
    if n <= 8:
        first, last = int.from_bytes(b[:4], "little"), int.from_bytes(b[-4:], "little")
        h = read64(SECRET, 8) ^ read64(SECRET, 16) ^ (last | first << 32)
        h ^= ((h << 49 | h >> 15) ^ (h << 24 | h >> 40)) & U64
        h = h * 0x9FB21C651E98DF25 & U64
        h = (h ^ (h >> 35) + n) * 0x9FB21C651E98DF25 & U64
        return h ^ h >> 28
    if n <= 16:
        low = read64(b, 0) ^ read64(SECRET, 24) ^ read64(SECRET, 32)
        high = read64(b, n - 8) ^ read64(SECRET, 40) ^ read64(SECRET, 48)
        return avalanche(n + int.from_bytes(low.to_bytes(8, "little"), "big") + high + fold(low, high) & U64)
    if n <= 240:
        h = n * PRIME64[0]
        if n <= 128:
            for i in range((n - 1) // 32 + 1):
                h += fold16(b, 16 * i, 32 * i) + fold16(b, n - 16 * (i + 1), 32 * i + 16)
            return avalanche(h & U64)
        for i in range(8):
            h += fold16(b, 16 * i, 16 * i)
        h = avalanche(h & U64)
        for i in range(8, n // 16):
            h += fold16(b, 16 * i, 16 * (i - 8) + 3)
        return avalanche(h + fold16(b, n - 16, 136 - 17) & U64)
    acc = [PRIME32[2], PRIME64[0], PRIME64[1], PRIME64[2], PRIME64[3], PRIME32[1], PRIME64[4], PRIME32[0]]
    stripes = (n - 1) // 64
    for i in range(stripes):
        stripe(acc, b, 64 * i, 8 * (i % 16))
        if i % 16 == 15:
            for j in range(8):
                acc[j] = (acc[j] ^ acc[j] >> 47 ^ read64(SECRET, 128 + 8 * j)) * PRIME32[0] & U64
    stripe(acc, b, n - 64, 192 - 64 - 7)
    h = n * PRIME64[0]
    for i in range(4):
        h += fold(acc[2 * i] ^ read64(SECRET, 11 + 16 * i), acc[2 * i + 1] ^ read64(SECRET, 19 + 16 * i))
    return avalanche(h & U64)


def stripe(acc, b, at, secret):
    for i in range(8):
        value = read64(b, at + 8 * i)
        key = value ^ read64(SECRET, secret + 8 * i)
        acc[i ^ 1] = acc[i ^ 1] + value & U64
        acc[i] = acc[i] + (key & U32) * (key >> 32) & U64


def mixed(s, v):
    s = (s ^ v) * 0x9E3779B97F4A7C15 & U64
    return s ^ s >> 32


class Flight:
    """Reads a record."""

    def __init__(self, b):
        must(len(b) <= 65536)
        self.b, self.at = b, 0
        must(self.byte() == 1)
        match, self.prints = self.take(16).hex(), self.byte()
        must(self.prints <= 64)
        self.names = [self.name() for _ in range(self.most(self.byte(), 64))]
        first, count = self.fixed(4), self.number(0, 2048)
        must((first > 0) == (count > 0))
        self.now, self.phases, ticks, used = [0] * self.prints, [], [], []
        tick = first - 1
        for i in range(count):
            ticks.append(self.tick(tick))
            tick = ticks[-1]["tick"]
            must(i > 0 or tick == first)
            for name in ticks[-1]["phases"] + [s["stream"] for d in ticks[-1].get("draws", ()) for s in d["streams"]]:
                if name not in used:
                    used.append(name)
        must(self.at == len(b) and used == self.names)
        self.facts = {"match": match, "prints": self.prints, "ticks": ticks}

    def take(self, n):
        must(self.at + n <= len(self.b))
        self.at += n
        return self.b[self.at - n:self.at]

    def byte(self):
        return self.take(1)[0]

    def fixed(self, n):
        return int.from_bytes(self.take(n), "little")

    def most(self, n, limit):
        must(n <= limit)
        return n

    def number(self, least, limit):
        n = shift = 0
        while True:
            b = self.byte()
            must(b or not shift)
            n |= (b & 127) << shift
            shift += 7
            must(n <= U64)
            if b < 128:
                must(least <= n <= limit)
                return n

    def name(self):
        try:
            name = self.take(self.number(1, 32)).decode()
        except UnicodeDecodeError:
            must(False)
        must(not any(c < " " or "\x7f" <= c <= "\x9f" for c in name))
        return name

    def named(self):
        i = self.byte()
        must(i < len(self.names))
        return self.names[i]

    def tick(self, before):
        flags = self.byte()
        must(flags < 32)
        x = {}
        gap = 0
        if flags & 16:
            gap, x["restored"] = self.number(0, U32 - 500), True
        x["tick"] = before + 1 + gap
        must(x["tick"] <= U32 - 500)
        if flags & 1:
            x["state"] = self.fixed(4)
            mask = self.number(0, (1 << self.prints) - 1)
            for i in range(self.prints):
                if mask >> i & 1:
                    p = self.fixed(2)
                    must(p != self.now[i])
                    self.now[i] = p
            x["prints"] = list(self.now)
        if flags & 2:
            x["commands"], x["sum"] = self.number(1, U32), self.fixed(2)
        if flags & 4:
            phases = [self.named() for _ in range(self.most(self.byte(), 63))]
            must(phases != self.phases)
            self.phases = phases
        x["phases"] = list(self.phases)
        if flags & 8:
            x["draws"], left = [], 128
            mask = self.number(1, U64)
            must(mask >> len(self.phases) + 1 == 0)
            for i in range(64):
                if mask >> i & 1:
                    n = self.byte()
                    must(0 < n <= left)
                    left -= n
                    streams = []
                    for _ in range(n):
                        streams.append({"stream": self.named(), "count": self.number(1, U32)})
                    must(len({s["stream"] for s in streams}) == n)
                    x["draws"].append({"phase": i, "streams": streams, "sum": self.fixed(2)})
        return x


def print_of(b):
    p = 0
    for at in range(0, len(b), 8192):
        p = mixed(p, xxh3(b[at:at + 8192]))
    return p


def run_flight(text):
    *lines, (_, b) = hex_lines(text)
    facts = Flight(b).facts
    if not lines:
        return facts
    made, tick, sums = [], {"phases": []}, {}
    root = schema(lines[0][1])
    for label, b in lines[1:]:
        if label == "command":
            tick["commands"] = tick.get("commands", 0) + 1
            sum_ = mixed(tick.get("sum", 0), b[0] | int.from_bytes(b[1:3], "little") << 8 | int.from_bytes(b[3:7], "little") << 24)
            tick["sum"] = mixed(sum_, xxh64(b[7:]))
        elif label == "phase":
            tick["phases"].append(b.decode())
        elif label == "draw":
            place, name = len(tick["phases"]), b[4:].decode()
            draws = tick.setdefault("draws", [])
            if not draws or draws[-1]["phase"] != place:
                draws.append({"phase": place, "sum": 0, "streams": []})
            d = draws[-1]
            d["sum"] = mixed(d["sum"], xxh64(b[4:]) + int.from_bytes(b[:4], "little") & U64)
            for s in d["streams"]:
                if s["stream"] == name:
                    s["count"] += 1
                    break
            else:
                d["streams"].append({"stream": name, "count": 1})
        else:
            at, prints, all_ = 0, [], 0
            for section in whole(root, b)[0]:
                prints.append(print_of(b[at:at + section["size"]]))
                at += section["size"]
            for p in prints:
                all_ = mixed(all_, p)
            if len(prints) > 64:
                rest = 0
                for p in prints[63:]:
                    rest = mixed(rest, p)
                prints[63:] = [rest]
            tick.update(tick=facts["ticks"][0]["tick"] + len(made), state=all_ & U32, prints=[p & U16 for p in prints])
            if "sum" in tick:
                tick["sum"] &= U16
            for d in tick.get("draws", ()):
                d["sum"] &= U16
            made.append(tick)
            tick = {"phases": []}
    if made != facts["ticks"]:
        raise Fault("other")
    return facts


def suite(folder):
    with open(os.path.join(folder, "index.json")) as f:
        index = json.load(f)
    run, wrong = {"datagram": run_datagram, "view": run_view, "abi": run_abi, "recording": run_recording, "flight": run_flight}, 0
    cases = [c for c in index["cases"] if c["kind"] in run]
    for c in cases:
        with open(os.path.join(folder, c["file"]), "rb") as f:
            b = f.read()
        try:
            verdict, facts = "ok", run[c["kind"]](b)
        except Fault as f:
            verdict, facts = f.verdict, f.where
            if c["kind"] in ("datagram", "abi", "flight") and verdict in ("corrupt", "limit"):
                verdict = "malformed"
            if c["kind"] == "recording" and verdict not in ("torn", "unsupported"):
                verdict, facts = "invalid", {}
        want = c.get("expect", {})
        if (verdict, facts) != (c["verdict"], want):
            wrong += 1
            print("%s: got %s %s, want %s %s" % (c["id"], verdict, json.dumps(facts), c["verdict"], json.dumps(want)))
    print("%d cases, %d differ" % (len(cases), wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(suite(sys.argv[2]))
