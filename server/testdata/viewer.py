"""A viewer of a match, written from docs/spec/views.md, docs/spec/state.md, docs/spec/live.md and docs/spec/replay.md alone.

    python3 viewer.py HOST:PORT MATCH TOKEN SECONDS

It knows no game: it takes the plan from view_sync, and prints the last view as JSON, with its tick and the number of views.
It needs the standard library only.
"""

import json
import struct
import sys
import time

from client import AUTH, CLOSING, LEAVE, PING, PONG, WELCOME, Socket
from samestep import Bad, Unpacker, pack

VIEW_ACK, VIEW_SYNC, VIEW_DELTA = 45, 60, 61
BOOL, ARRAY, SLICE, STRUCT = 1, 11, 12, 13
SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 2, 8: 4, 9: 8}


class Bytes:
    def __init__(self, b):
        self.b, self.at = b, 0

    def byte(self):
        self.at += 1
        return self.b[self.at - 1]

    def number(self):
        n, shift = 0, 0
        while True:
            c = self.byte()
            n |= (c & 127) << shift
            shift += 7
            if c < 128:
                if c == 0 and shift > 7:
                    raise Bad("not the shortest form")
                return n

    def take(self, n):
        self.at += n
        return self.b[self.at - n : self.at]


class Table:
    """A list of rows of numbers, or the one row of the fields outside of lists."""

    def __init__(self, path, fixed=0):
        self.path, self.fixed, self.columns, self.id = path, fixed, [], None

    def zero(self):
        return [0] * len(self.columns)


def plan(b):
    """Returns the tables of a plan. A column is [path, kind, fraction bits, bits that are not sent]."""
    r = Bytes(b)
    nodes, source = [], r.take(r.number())
    count, at = struct.unpack_from("<I", source)[0], 4
    for _ in range(count):
        kind, fraction, inner, length = struct.unpack_from("<BBII", source, at)
        at += 10 + length
        nodes.append((kind, fraction, inner, source[at - length : at].decode()))
    tables = [Table("", 1)]
    nodes.reverse()
    fields(tables, nodes, "", tables[0])
    for _ in range(r.number()):
        path = r.take(r.number()).decode()
        is_id, step = r.byte(), struct.unpack("b", r.take(1))[0]
        for t in tables:
            for i, c in enumerate(t.columns):
                full = c[0] if t is tables[0] else t.path + "[]" + c[0]
                if full != path and not (full.startswith(path) and full[len(path)] in ".["):
                    continue
                if is_id:
                    t.id = i
                c[3] = c[2] + step if step != -128 else 0
    return tables


def fields(tables, nodes, path, table):
    """Takes a node and those below it. Lists outside of lists become tables."""
    kind, fraction, inner, name = nodes.pop()
    if kind == STRUCT:
        for _ in range(inner):
            name = nodes[-1][3]
            fields(tables, nodes, path + "." + name if path or table is not tables[0] else name, table)
    elif kind in (ARRAY, SLICE) and table is tables[0]:
        tables.append(Table(path, inner if kind == ARRAY else 0))
        fields(tables, nodes, "", tables[-1])
    elif kind == ARRAY:
        node = []
        copy_node(nodes, node)
        for i in range(inner):
            fields(tables, list(reversed(node)), "%s[%d]" % (path, i), table)
    else:
        table.columns.append([path, kind, fraction, 0])


def copy_node(nodes, out):
    """Takes a node with all below it."""
    n = nodes.pop()
    out.append(n)
    for _ in range(n[2] if n[0] == STRUCT else 1 if n[0] in (ARRAY, SLICE) else 0):
        copy_node(nodes, out)


def row(r, t, numbers):
    """Reads the difference of a row, in the numbers that are sent."""
    mask = r.number()
    for i, c in enumerate(t.columns):
        if not mask >> i & 1:
            continue
        if c[1] == BOOL:
            numbers[i] ^= 1
        else:
            numbers[i] += unzigzag(r.number())
            numbers[i] = wrapped(numbers[i], c)
    return numbers


def wrapped(v, c):
    """64-bit numbers wrap."""
    bits = 8 * SIZES[c[1]]
    if bits < 64:
        return v
    v &= (1 << 64) - 1
    return v - (1 << 64) if c[1] <= 5 and v >> 63 else v


def unzigzag(z):
    return z >> 1 ^ -(z & 1)


def times(r, signed=False):
    """Yields numbers that are told by their gaps."""
    at = None
    for _ in range(r.number()):
        n = r.number()
        at = at + 1 + n if at is not None else unzigzag(n) if signed else n
        yield at


def apply(tables, base, b):
    r, view = Bytes(b), []
    for i, t in enumerate(tables):
        rows = [list(v) for v in base[i]]
        if i == 0:
            row(r, t, rows[0])
        elif t.id is None:
            n = t.fixed or r.number()
            rows = rows[:n] + [t.zero() for _ in range(n - len(rows))]
            for at in times(r):
                row(r, t, rows[at])
        else:
            for at in times(r):
                row(r, t, rows[at])
            gone = set(times(r))
            rows = [v for at, v in enumerate(rows) if at not in gone]
            for key in times(r, t.columns[t.id][1] <= 5):
                new = t.zero()
                new[t.id] = key
                rows.append(row(r, t, new))
            rows.sort(key=lambda v: v[t.id])
        view.append(rows)
    if r.at != len(b):
        raise Bad("%d bytes after the end of a delta" % (len(b) - r.at))
    return view


def shown(tables, view):
    """A view as JSON: numbers with the bits that are not sent, which are zero."""
    out = {}
    for i, t in enumerate(tables):
        rows = [{c[0].lstrip("."): v << c[3] if c[1] != BOOL else bool(v) for c, v in zip(t.columns, numbers)} for numbers in view[i]]
        if i == 0:
            out.update(rows[0])
        else:
            out[t.path] = rows
    return out


def main():
    address, match, token, seconds = sys.argv[1:5]
    s = Socket(address, "/matches/%s/play" % match)
    s.send(pack([AUTH, 1, "", GAME, "", 0, 0, [0, 0, 0, 0, 0], "python", token, b"", 0, ["views"]]))
    end, tables, views, delta, last, tick, count, notes, viewer, begun = time.monotonic() + float(seconds), None, {}, b"", 0, 0, 0, 0, "", 0
    while time.monotonic() < end:
        message = s.receive()
        if message is None:
            raise Bad("closed")
        u = Unpacker(message)
        while u.more():
            kind, *v = u.value()
            if kind == PING:
                s.send(pack([PONG, v[0], tick]))
            elif kind == VIEW_SYNC:
                viewer, tables, begun = v[0], plan(v[4]), begun + 1
                views = {0: [[t.zero() for _ in range(t.fixed)] for t in tables]}
            elif kind == VIEW_DELTA:
                number, base, at, offset, total, chunk = v
                delta = chunk if offset == 0 else delta + chunk
                if len(delta) < total:
                    continue
                if total:
                    views[number], count, last = apply(tables, views[base], delta), count + 1, number
                    views = {n: view for n, view in views.items() if n == 0 or n + 16 > number}
                tick = at
                s.send(pack([VIEW_ACK, number, tick]))
            elif kind == CLOSING:
                raise Bad("closing: %s" % v)
            elif kind >= 64:
                notes += 1
            elif kind != WELCOME and kind < 48:
                raise Bad("a viewer got a record of kind %d" % kind)
    s.send(pack([LEAVE, ""]))
    print(json.dumps(dict(viewer=viewer, begun=begun, tick=tick, views=count, notes=notes, view=shown(tables, views[last]))))


GAME = "minimal"

if __name__ == "__main__":
    main()
