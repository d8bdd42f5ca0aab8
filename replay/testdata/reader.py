"""Reads a replay file by docs/replay-format.md alone, checks every block and the
index, and prints its last tick, its number of commands, and its content hash.
Segments are decompressed by the command zstd."""
import hashlib
import struct
import subprocess
import sys

M = (1 << 64) - 1
P1, P2, P3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
P4, P5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5


def rotl(x, n):
    return (x << n | x >> (64 - n)) & M


def mix(acc, lane):
    return rotl((acc + lane * P2) & M, 31) * P1 & M


def xxh64(b):
    at = 0
    if len(b) >= 32:
        v = [(P1 + P2) & M, P2, 0, -P1 & M]
        while at + 32 <= len(b):
            v = [mix(a, lane) for a, lane in zip(v, struct.unpack_from("<4Q", b, at))]
            at += 32
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


def value(b, at):
    """Returns the MessagePack value at an offset, and where the next begins."""
    c, at = b[at], at + 1
    if c < 0x80:
        return c, at
    if 0xCC <= c <= 0xCF:
        n = 1 << (c - 0xCC)
        return int.from_bytes(b[at:at + n], "big"), at + n
    if c & 0xE0 == 0xA0:
        n = c & 0x1F
    elif 0xC4 <= c <= 0xC6 or 0xD9 <= c <= 0xDB:
        w = 1 << (c - (0xC4 if c < 0xD9 else 0xD9))
        n, at = int.from_bytes(b[at:at + w], "big"), at + w
    else:
        if c & 0xF0 == 0x90:
            n = c & 0x0F
        elif c in (0xDC, 0xDD):
            w = 2 << (c - 0xDC)
            n, at = int.from_bytes(b[at:at + w], "big"), at + w
        else:
            raise ValueError("byte %#x" % c)
        items = []
        for _ in range(n):
            item, at = value(b, at)
            items.append(item)
        return items, at
    return bytes(b[at:at + n]), at + n


def uvarint(b, at):
    n = shift = 0
    while True:
        n |= (b[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if b[at - 1] < 0x80:
            return n, at


def segment(body):
    """Returns the number of ticks and the records of a segment."""
    _, at = uvarint(body, 0)
    ticks, at = uvarint(body, at)
    size, at = uvarint(body, at)
    data = body[at + 8:]
    assert 1 <= size <= min(64 << 20, (64 << 10) + 1000 * len(data)), "size of a segment"
    out = subprocess.run(["zstd", "-dcq", "--memory=16MB"], input=data, stdout=subprocess.PIPE, check=True).stdout
    assert len(out) == size and struct.unpack_from("<Q", body, at)[0] == xxh64(out), "segment"
    return ticks, out


def index(body, start, blocks):
    """Checks that the index names keyframes where they are."""
    count, at = uvarint(body, 0)
    tick = offset = 0
    for _ in range(count):
        step, at = uvarint(body, at)
        tick += step
        step, at = uvarint(body, at)
        offset += step
        where, at = uvarint(body, at)
        keyframe = value(blocks[offset], where)[0]
        assert keyframe[:2] == [2, tick], "index: keyframe of tick %d" % tick
    assert body[at:] == struct.pack("<Q", start), "index"


def records(b):
    assert b[:8] == b"\x89SSR\r\n\x1a\n" and b[8:16] == struct.pack("<II", 1, 0)
    chain, at, blocks = xxh64(b[:32]), 32, {}
    while at < len(b):
        size, body = uvarint(b, at + 1)
        end = body + size
        chain = xxh64(struct.pack("<Q", chain) + b[at:end])
        assert struct.unpack_from("<Q", b, end)[0] == chain, "block at byte %d" % at
        start, kind, at = at, b[at], end + 8
        assert kind in (1, 2) or kind >= 64, "block of kind %d" % kind
        ticks, held, found = None, b"", 0
        if kind == 1:
            held = b[body:end]
        elif kind == 2:
            ticks, held = segment(b[body:end])
        elif kind == 64 and at == len(b):
            index(b[body:end], start, blocks)
        blocks[start], where = held, 0
        while where < len(held):
            record, after = value(held, where)
            found += 1 if record[0] == 3 else record[1] if record[0] == 4 else 0
            yield held[where:after], record
            where = after
        assert ticks in (None, found), "%d ticks in a segment of %s" % (found, ticks)


def without_platform(raw, record):
    at = 1  # after the array of 12
    for _ in range(6):
        at = value(raw, at)[1]
    return raw[:at] + b"\xa0" + raw[value(raw, at)[1]:]


def main(path):
    content, late, tick, commands, last, began = hashlib.sha256(), b"", 0, 0, {}, False
    for raw, r in records(open(path, "rb").read()):
        kind = r[0]
        if kind in (3, 4):
            tick += 1 if kind == 3 else r[1]
            content.update(late)
            late = b""
        if kind == 1:
            h = without_platform(raw, r)
            content.update(struct.pack("<BI", 1, len(h)) + h)
        elif kind == 2 and not began:
            began, tick = True, r[1]
            content.update(struct.pack("<BIQI", 2, r[1], r[2], len(r[3]) // 2))
            for p, s in zip(r[3][::2], r[3][1::2]):
                last[p] = s
                content.update(struct.pack("<BI", p, s))
            content.update(struct.pack("<I", len(r[4])) + r[4])
        elif kind == 3:
            content.update(struct.pack("<BII", 3, tick, len(r) // 4))
            for p, step, k, payload in zip(r[1::4], r[2::4], r[3::4], r[4::4]):
                last[p] = last.get(p, 0) + step
                content.update(struct.pack("<BIHI", p, last[p], k, len(payload)) + payload)
                commands += 1
        elif kind == 5:
            late += struct.pack("<BIQ", 5, tick - r[1], r[2])
        elif kind == 6:
            late += struct.pack("<BIBQ", 6, tick - r[1], r[2], r[3])
        elif kind == 7:
            content.update(late + struct.pack("<BI", 7, len(r[1])) + r[1])
    content.update(struct.pack("<BI", 0, tick))
    print(tick, commands, content.hexdigest())


main(sys.argv[1])
