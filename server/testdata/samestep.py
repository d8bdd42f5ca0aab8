"""The common parts of clients of samestep.v1, written from docs/spec/live.md and docs/spec/replay.md alone.

MessagePack in its one form, xxHash64, canonical bytes, state hashes, and the self-test. It needs the standard library only.
"""

import struct

M64 = (1 << 64) - 1


class Bad(Exception):
    """A message that the documents do not allow."""


def pack(value):
    if value is True or value is False:
        return b"\xc3" if value else b"\xc2"
    if isinstance(value, int):
        for limit, form in ((1 << 7, None), (1 << 8, (0xCC, ">B")), (1 << 16, (0xCD, ">H")), (1 << 32, (0xCE, ">I")), (1 << 64, (0xCF, ">Q"))):
            if 0 <= value < limit:
                return bytes([value]) if form is None else bytes([form[0]]) + struct.pack(form[1], value)
    if isinstance(value, str):
        b = value.encode()
        n = len(b)
        return (bytes([0xA0 | n]) if n < 32 else head(n, 0xD9)) + b
    if isinstance(value, bytes):
        return head(len(value), 0xC4) + value
    if isinstance(value, list):
        n = len(value)
        first = bytes([0x90 | n]) if n < 16 else b"\xdc" + struct.pack(">H", n) if n < 1 << 16 else b"\xdd" + struct.pack(">I", n)
        return first + b"".join(pack(v) for v in value)
    raise TypeError(value)


def head(n, first):
    """The header of a string or of bytes of length n."""
    if n < 1 << 8:
        return bytes([first, n])
    return bytes([first + 1]) + struct.pack(">H", n) if n < 1 << 16 else bytes([first + 2]) + struct.pack(">I", n)


class Unpacker:
    def __init__(self, data):
        self.data, self.at = data, 0

    def more(self):
        return self.at < len(self.data)

    def take(self, n):
        if self.at + n > len(self.data):
            raise Bad("cut off")
        b = self.data[self.at : self.at + n]
        self.at += n
        return b

    def number(self, form):
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def value(self):
        begin = self.at
        v = self.raw()
        if not isinstance(v, list) and pack(v) != self.data[begin : self.at]:
            raise Bad("not in the smallest form")
        return v

    def raw(self):
        t = self.take(1)[0]
        if t < 0x80:
            return t
        if 0x90 <= t <= 0x9F:
            return [self.value() for _ in range(t & 15)]
        if 0xA0 <= t <= 0xBF:
            return self.text(t & 31)
        if t in (0xC2, 0xC3):
            return t == 0xC3
        for first, what in ((0xC4, "bin"), (0xD9, "str"), (0xDC, "array")):
            forms = ">H>I" if what == "array" else ">B>H>I"
            if first <= t < first + len(forms) // 2:
                n = self.number(forms[2 * (t - first) : 2 * (t - first) + 2])
                if what == "array":
                    if n > len(self.data) - self.at or n < (16, 1 << 16)[t - first]:
                        raise Bad("an array of %d" % n)
                    return [self.value() for _ in range(n)]
                return self.take(n) if what == "bin" else self.text(n)
        if 0xCC <= t <= 0xCF:
            return self.number((">B", ">H", ">I", ">Q")[t - 0xCC])
        raise Bad("type %#x" % t)

    def text(self, n):
        try:
            return self.take(n).decode()
        except UnicodeDecodeError:
            raise Bad("not UTF-8")


# xxHash64 with seed 0.

P1, P2, P3, P4, P5 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5


def rotate(v, n):
    return (v << n | v >> (64 - n)) & M64


def mix(acc, v):
    return rotate((acc + v * P2) & M64, 31) * P1 & M64


def xxh64(b):
    at, n = 0, len(b)
    if n >= 32:
        lanes = [(P1 + P2) & M64, P2, 0, (-P1) & M64]
        while at + 32 <= n:
            lanes = [mix(lane, v) for lane, v in zip(lanes, struct.unpack_from("<4Q", b, at))]
            at += 32
        h = sum(rotate(lane, r) for lane, r in zip(lanes, (1, 7, 12, 18))) & M64
        for lane in lanes:
            h = ((h ^ mix(0, lane)) * P1 + P4) & M64
    else:
        h = P5
    h = (h + n) & M64
    while at + 8 <= n:
        h = (rotate(h ^ mix(0, struct.unpack_from("<Q", b, at)[0]), 27) * P1 + P4) & M64
        at += 8
    if at + 4 <= n:
        h = (rotate(h ^ struct.unpack_from("<I", b, at)[0] * P1 & M64, 23) * P2 + P3) & M64
        at += 4
    for c in b[at:]:
        h = rotate(h ^ c * P5 & M64, 11) * P1 & M64
    h = (h ^ h >> 33) * P2 & M64
    h = (h ^ h >> 29) * P3 & M64
    return h ^ h >> 32


def state_hash(sections):
    """The hash of a state, and the sums of its sections, from their canonical bytes."""
    sums = [xxh64(s) for s in sections]
    return xxh64(b"samestep root 1\n" + b"".join(struct.pack("<QQ", len(s), v) for s, v in zip(sections, sums))), sums


KINDS = dict(bool=1, int8=2, int16=3, int32=4, int64=5, uint8=6, uint16=7, uint32=8, uint64=9, string=10, array=11, slice=12, struct=13)


def describe(*nodes):
    """The description of a schema, of nodes (kind, count, name) in preorder."""
    b = struct.pack("<I", len(nodes))
    for kind, count, name in nodes:
        b += struct.pack("<BBII", KINDS[kind], 0, count, len(name)) + name.encode()
    return b


# The self-test.


class Fold:
    def __init__(self, begin):
        self.f = begin

    def add(self, v):
        self.f = (self.f ^ (v & M64)) * 0x9E3779B97F4A7C15 & M64
        self.f ^= self.f >> 29

    def bytes(self, b):
        self.add(len(b))
        for c in b:
            self.add(c)


def signed(v, bits):
    v &= (1 << bits) - 1
    return v - (1 << bits) if v >> (bits - 1) else v


OPERANDS = [
    0, 1, 2, 3, 7, 10, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x100000000, 0x1FFFFFFFFFFFFF,
    0x20000000000001, 0x7FFFFFFFFFFFFFFF, 0x8000000000000000, 0xFFFFFFFFFFFFFFFE, 0xFFFFFFFFFFFFFFFF, 0x9E3779B97F4A7C15,
]


def integers():
    f = Fold(1)
    for a in OPERANDS:
        for b in OPERANDS:
            sa, sb, shift = signed(a, 64), signed(b, 64), b & 127
            f.add(a * b >> 64)
            f.add(a * b)
            total = a + b + (a & 1)
            f.add((total & M64) ^ (total >> 64))
            f.add(a - b)
            f.add(a << shift if shift < 64 else 0)
            f.add(sa >> shift)
            f.add(signed(signed(a, 32) * signed(b, 32), 32))
            f.add(signed(a, 16) + (b & 0xFF))
            f.add(256 * (64 - a.bit_length()) + ((b & -b).bit_length() - 1 if b else 64))
            if b:
                f.add(a // b)
                f.add(a % b)
                q = abs(sa) // abs(sb) * (1 if (sa < 0) == (sb < 0) else -1)
                f.add(q)
                f.add(sa - q * sb)
            if sa < sb:
                f.add(signed(a, 8))
    return f.f


def known_state():
    """The sections of the state of the self-test."""
    units = struct.pack("<I", 5)
    for i in range(5):
        units += struct.pack("<qqBBHI", i << 40, -i * 12345678901, 200 + i, i % 2 == 0, i << 12, i) + bytes(4 * i)
    name = b"samestep \xff"
    return [
        b"\x01", struct.pack("<b", -3), struct.pack("<Q", 0x0123456789ABCDEF), units,
        struct.pack("<I", len(name)) + name, struct.pack("<hhh", -1, 0, 0x1234), struct.pack("<I", 0),
    ]


KNOWN_SCHEMA = describe(
    ("struct", 7, ""), ("bool", 0, "Flag"), ("int8", 0, "Tiny"), ("uint64", 0, "Wide"), ("slice", 0, "Units"),
    ("struct", 6, ""), ("int64", 0, "X"), ("int64", 0, "Y"), ("uint8", 0, "Kind"), ("bool", 0, "Alive"), ("uint16", 0, "Owner"),
    ("slice", 0, "Seen"), ("uint32", 0, ""), ("string", 0, "Name"), ("array", 3, "Table"), ("int16", 0, ""), ("slice", 0, "Empty"), ("uint32", 0, ""),
)


def layout():
    f, b = Fold(2), b"".join(known_state())
    f.bytes(b)
    f.add(-3 * 12345678901 - 3)
    f.bytes(b)
    f.add(xxh64(KNOWN_SCHEMA))
    return f.f


def checksums():
    f, b = Fold(3), b""
    for i in range(100):
        f.add(xxh64(b))
        b += bytes([i * i & 0xFF])
    total, sums = state_hash(known_state())
    f.add(total)
    for s in sums:
        f.add(s)
    return f.f


def records():
    f = Fold(4)
    kinds, sizes, frame, last = (0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF), (0, 1, 127, 128, 255, 256), [3], 0
    for i in range(6):
        frame += [1, 1 + i**6 - last, kinds[i], bytes(sizes[i])]
        last = 1 + i**6
    header = [1, 1, "samestep/1", "self", "test", bytes(16), "", [1 << 63, 250, 16667, 300, 70000, False], b"", b"", b"", [], b""]
    for record in (header, [2, 7, 1 << 63, [], b"\x01\x02\x03"], frame):
        b = pack(record)
        f.bytes(b)
        f.bytes(pack(Unpacker(b).value()))
    return f.f


def self_test(game=0):
    """The five sums of auth, computed on this machine."""
    return [integers(), layout(), checksums(), records(), game]
