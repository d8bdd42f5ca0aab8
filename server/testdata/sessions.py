"""A client of samestep.v1 that plays the conformance game, written from docs/spec/live.md, docs/spec/datagrams.md, docs/spec/replay.md
and docs/conformance.md alone.

    python3 sessions.py INDEX

It plays the client of each transcript that checks one, and compares what it says with what the transcript says, as far as
docs/conformance.md wants it to be the same. It prints the number of transcripts, or what differs.
"""

import json
import os
import struct
import sys

from samestep import Bad, Unpacker, describe, pack, self_test, signed, state_hash, xxh64

AUTH, COMMAND, CHECKSUM_REPORT, STATE, STATE_SYNC_REQUEST, PING, CHAT, LEAVE, ACK, READY = 32, 33, 34, 35, 36, 37, 38, 39, 40, 42
WELCOME, STATE_SYNC, ACCEPTED, REJECTED, STATE_REQUEST, DESYNC_REPORT, PONG, ERROR, CLOSING, HELD = 48, 49, 50, 51, 52, 53, 54, 56, 57, 58
HEADER, KEYFRAME, FRAME, EMPTY, CHECKSUM, MISMATCH, END, NOTE, EVENT = 1, 2, 3, 4, 5, 6, 7, 64, 67
REFUSED, SYSTEM, ADD, SAY = 3, 255, 1, 2

STATE_SCHEMA = describe(("struct", 4, ""), ("uint32", 0, "Ticks"), ("slice", 0, "Coins"), ("int32", 0, ""), ("uint16", 0, "System"), ("string", 0, "Last"))
ADD_SCHEMA = describe(("struct", 1, ""), ("int16", 0, "Coins"))
SAY_SCHEMA = describe(("struct", 1, ""), ("string", 0, "Text"))


def fingerprint(*commands):
    b = b""
    for kind, name, schema in commands:
        b += struct.pack("<HI", kind, len(name)) + name + struct.pack("<I", len(schema)) + schema
    return xxh64(b)


IDENTITY = [1, "samestep/1", "conform", "1", xxh64(STATE_SCHEMA), fingerprint((ADD, b"add", ADD_SCHEMA), (SAY, b"say", SAY_SCHEMA)), self_test()]


class World:
    """The state of the conformance game, from its canonical bytes."""

    def __init__(self, b):
        self.ticks, n = struct.unpack_from("<II", b)
        self.coins = list(struct.unpack_from("<%di" % n, b, 8))
        self.system, size = struct.unpack_from("<HI", b, 8 + 4 * n)
        self.last = b[14 + 4 * n :]
        if size != len(self.last):
            raise Bad("a state that is not canonical")

    def sections(self):
        return [
            struct.pack("<I", self.ticks), struct.pack("<I%di" % len(self.coins), len(self.coins), *self.coins),
            struct.pack("<H", self.system), struct.pack("<I", len(self.last)) + self.last,
        ]

    def step(self, commands):
        self.ticks += 1
        for player, kind, payload in commands:
            if player == SYSTEM:
                if not 1 <= kind <= 8:
                    raise Bad("system command %d" % kind)
                self.system = (self.system + 1) & 0xFFFF
            elif kind == ADD:
                self.coins[player] = signed(self.coins[player] + struct.unpack("<h", payload)[0], 32)
            else:
                self.last = payload[4:]


class Client:
    """The client's side. It appends its messages to said: kind and values, by connection."""

    def __init__(self, token):
        self.token, self.session, self.match = token, b"", None
        self.position, self.world, self.next = 0, None, 1
        self.waiting, self.done, self.said, self.conn = {}, False, {}, 0
        self.refused = 0  # bad states in a row
        self.ready = False  # in the lobby
        self.agreed = {}  # checksums of the stream
        self.stream, self.taken = 0, {}  # position of the next record of the stream; records by position, some of datagrams

    def say(self, *values):
        self.said[self.conn].append(list(values))

    def close(self, done=False):
        self.said[self.conn].append("close")
        self.conn, self.done = 0, self.done or done

    def dial(self, conn):
        self.conn, self.said[conn] = conn, []
        self.up, self.sync, self.sending, self.every = False, None, False, 1
        self.say(AUTH, *IDENTITY, "conformance", self.token, self.session, self.position, [])

    def lost(self):
        self.conn = 0

    def submit(self, kind, value):
        payload = struct.pack("<h", value) if kind == ADD else struct.pack("<I", len(value.encode())) + value.encode()
        self.waiting[self.next] = [kind, payload, None]
        if self.conn and self.up:
            self.say(COMMAND, self.next, kind, payload)
        self.next += 1

    def be_ready(self, ready):
        self.ready = ready
        if self.conn and self.up:
            self.say(READY, ready)

    def take(self, message):
        """Handles one WebSocket message."""
        try:
            if len(message) == 0 or len(message) > 128 << 10:
                raise Bad("a message of %d bytes" % len(message))
            u = Unpacker(message)
            while u.more() and self.conn:
                begin, values = u.at, u.value()
                if not isinstance(values, list) or not values or not isinstance(values[0], int):
                    raise Bad("not a message")
                if values[0] < 32 or values[0] >= 64:
                    self.streamed(message[begin : u.at], values)
                else:
                    self.message(*values)
        except Bad as e:
            self.close(isinstance(e, Final))

    def streamed(self, b, values):
        """Takes a record of the stream, which datagrams may have brought."""
        at, self.stream = self.stream, self.stream + 1
        if at in self.taken and self.sending:
            self.same(at, b)
        else:
            self.taken[at] = b
            self.record(*values)
        self.catch_up()

    def same(self, at, b):
        if self.taken[at] != b:
            self.position = 0  # one of the two is wrong
            raise Bad("two records at %d" % at)

    def catch_up(self):
        while self.position in self.taken:
            self.record(*Unpacker(self.taken[self.position]).value())

    def datagram(self, b):
        """Handles a datagram, and takes its records."""
        try:
            u = Unpacker(b)
            kind, number, seen, count, receipts, position = [u.value() for _ in range(6)]
            if kind != 1 or number < 1 or count > seen or len(receipts) % 2:
                raise Bad("not a datagram of a host")
            for sequence, tick in zip(receipts[0::2], receipts[1::2]):
                self.message(ACCEPTED, sequence, tick)
            while u.more():
                begin, item = u.at, u.value()
                if isinstance(item, list):
                    records = [b[begin : u.at]]
                elif 1 <= item <= 64:
                    records = [pack([EMPTY, 1])] * item
                elif 128 <= item <= 190:
                    position += item - 127
                    continue
                else:
                    raise Bad("an item %d" % item)
                for record in records:
                    if position in self.taken:
                        self.same(position, record)
                    elif position >= self.stream:
                        self.taken[position] = record
                    position += 1
            self.catch_up()
        except Bad:
            self.close()

    def message(self, kind, *v):
        if not self.up and kind not in (WELCOME, ERROR, CLOSING, PING):
            raise Bad("message %d out of place" % kind)
        if kind == WELCOME and not self.up:
            self.welcome(*v)
        elif kind == STATE_SYNC:
            self.chunk(*v)
        elif kind == ACCEPTED:
            if v[0] in self.waiting:
                self.waiting[v[0]][2] = v[1]
                self.settle()
        elif kind == REJECTED:
            self.waiting.pop(v[0], None)
        elif kind == STATE_REQUEST:
            self.state_request(*v)
        elif kind == PING:
            self.say(PONG, v[0], self.tick if self.world else 0)
        elif kind == ERROR:
            if v[0] == REFUSED and self.session and not self.up:
                self.session = b""
                self.close()
        elif kind == CLOSING:
            self.close(v[2] == 0)
        elif kind not in (PONG, DESYNC_REPORT, HELD):
            raise Bad("this client knows no message %d" % kind)

    def welcome(self, seat, role, session, tick, position, resumed, last, every, delay, speed):
        if resumed and (position != self.position or not self.world):
            raise Bad("resumed at %d, want %d" % (position, self.position))
        if not 10 <= speed <= 1000 or every < 1 or 249 < seat < 255:
            raise Bad("a speed of %d, an ack every %d ticks, a seat of %d" % (speed, every, seat))
        self.up, self.session, self.seat, self.every = True, session, seat, every
        self.sending = resumed  # a stream to continue
        self.stream = position if resumed else 0
        undecided = sorted(sequence for sequence in self.waiting if sequence > last)
        far = undecided and undecided[-1] > last + 256
        if far:
            self.next = last + 1
        for sequence in undecided:
            kind, payload, _ = self.waiting.pop(sequence)
            if far:
                sequence, self.next = self.next, self.next + 1
            self.waiting[sequence] = [kind, payload, None]
        self.next = max(self.next, last + 1)
        if self.ready:
            self.say(READY, True)
        if resumed:
            self.ack()
        for sequence, (kind, payload, tick) in sorted(self.waiting.items()):
            if tick is None:
                self.say(COMMAND, sequence, kind, payload)

    def ack(self):
        self.acked = self.tick
        self.say(ACK, self.position, self.tick)

    def settle(self):
        for sequence in [s for s, c in self.waiting.items() if c[2] is not None and self.sending and c[2] <= self.tick]:
            del self.waiting[sequence]

    def chunk(self, position, tick, offset, total, chunk):
        place = (position, tick, total)
        if offset == 0:
            self.sync = (place, b"")
        if not self.sync or self.sync[0] != place or offset != len(self.sync[1]) or not chunk:
            raise Bad("a chunk out of place")
        self.sync = (place, self.sync[1] + chunk)
        if len(self.sync[1]) < total:
            return
        b, self.sync = self.sync[1], None
        try:
            self.begin(position, tick, b)
            self.refused = 0
        except Final:
            raise
        except Bad:
            self.refused += 1
            if self.refused > 2:
                raise Final("no state that could be used")
            self.say(STATE_SYNC_REQUEST)

    def begin(self, position, tick, b):
        u = Unpacker(b)
        header, keyframe = u.value(), u.value()
        if header[:5] != [HEADER, 1] + IDENTITY[1:4] or self.match not in (None, header[5]):
            raise Final("another game, or another match")
        kind, at, want, last, state = keyframe
        world = World(state)
        while u.more():
            if u.value()[0] not in (NOTE, EVENT):
                raise Bad("more than notes after a keyframe")
        if kind != KEYFRAME or at != tick or state_hash(world.sections())[0] != want:
            raise Bad("a state that is not the match's")
        self.match, self.world, self.tick, self.position, self.sending = header[5], world, tick, position, True
        self.stream, self.taken = position, {}
        self.check_every = header[7][3]
        self.last = dict(zip(last[0::2], last[1::2]))
        self.states = {}
        self.settle()
        self.ack()

    def state_request(self, tick):
        state = self.states.get(tick, b"") if self.world else b""
        for offset in range(0, len(state), 32 << 10):
            self.say(STATE, tick, offset, len(state), state[offset : offset + (32 << 10)])
        if not state:
            self.say(STATE, tick, 0, 0, b"")

    def record(self, kind, *v):
        if not self.sending or kind in (HEADER, KEYFRAME) or 7 < kind < 32:
            self.position = 0  # the stream cannot continue
            raise Bad("record %d out of place" % kind)
        self.position += 1
        if kind == EMPTY:
            for _ in range(v[0]):
                self.step([])
        elif kind == FRAME:
            commands = []
            for player, step, command, payload in zip(v[0::4], v[1::4], v[2::4], v[3::4]):
                self.last[player] = self.last.get(player, 0) + step
                commands.append((player, command, payload))
            try:
                self.step(commands)
            except Bad:
                self.position = 0
                raise
        elif kind == CHECKSUM:
            self.agreed[self.tick - v[0]] = v[1]
        elif kind == END:
            self.done = True
        self.settle()
        if self.tick >= self.acked + self.every:
            self.ack()

    def step(self, commands):
        self.world.step(commands)
        self.tick += 1
        if self.tick % self.check_every == 0:
            total, sums = state_hash(self.world.sections())
            self.states[self.tick] = b"".join(self.world.sections())
            self.say(CHECKSUM_REPORT, self.tick, total, sums)


class Final(Bad):
    """An error that a new connection cannot repair."""


# Compared values.


def spoken(messages):
    """The messages of WebSocket messages, as values."""
    out = []
    for b in messages:
        u = Unpacker(b)
        while u.more():
            out.append(u.value())
    return out


def of(kind, said):
    return [v for v in said if v != "close" and v[0] == kind]


def answers(said):
    """The joined states of the answers to state_request."""
    states = {}
    for _, tick, offset, total, chunk in of(STATE, said):
        states[tick] = states.get(tick, b"") + chunk
    return states


def compare(c, want):
    """Returns the differences between the messages of our client and of the transcript."""
    for conn, theirs in want.items():
        ours = c.said.get(conn)
        if ours is None:
            return "connection %d was not wanted" % conn
        for kind in (AUTH, COMMAND, STATE_SYNC_REQUEST, CHAT, READY):
            if of(kind, ours) != of(kind, theirs):
                return "connection %d, kind %d: got %r, want %r" % (conn, kind, of(kind, ours), of(kind, theirs))
        if answers(ours) != answers(theirs):
            return "connection %d: states: got %r, want %r" % (conn, answers(ours), answers(theirs))
        if any(v[1] not in [p[1] for p in of(PONG, ours)] for v in of(PONG, theirs)):
            return "connection %d: pings without an answer" % conn
        if ("close" in ours) != ("close" in theirs):
            return "connection %d: closed: got %r, want %r" % (conn, "close" in ours, "close" in theirs)
    reports = [v for said in c.said.values() for v in of(CHECKSUM_REPORT, said)]
    wanted = [v for said in want.values() for v in of(CHECKSUM_REPORT, said)]
    for v in wanted:
        if v not in reports:
            return "no checksum %r" % v
    for v in reports:
        if v not in wanted and c.agreed.get(v[1], v[2]) != v[2]:
            return "checksum %r is neither in the transcript nor agreed" % v
    return None


def play(t):
    c, want, heard = Client(t["client"]["token"]), {}, None
    for s in t["steps"]:
        conn, do = s.get("conn", 0), s.get("do", "")
        if s["from"] == "player":
            if do == "corrupt":
                c.world.coins[int(s["text"][len("Coins[") : -1])] ^= 1
            elif do in ("add", "say"):
                c.submit({"add": ADD, "say": SAY}[do], s.get("number", 0) if do == "add" else s["text"])
            elif do == "chat":
                c.say(CHAT, s["text"])
            elif do == "ready":
                c.be_ready(s.get("number", 0) == 1)
            elif do == "leave":
                c.say(LEAVE, s.get("text", ""))
                c.close(True)
        elif conn not in t["client"]["conns"]:
            continue
        elif s["from"] == "client":
            if do == "open":
                if c.done:
                    return "it should not come back"
                want[conn] = []
                c.dial(conn)
            elif do:
                want[conn].append("close")
                if c.conn == conn and s["at_ms"] == heard:
                    return "it should have closed connection %d" % conn
                if c.conn == conn:
                    c.close()  # after a silence, which the caller measures
            else:
                want[conn] += spoken([bytes.fromhex(s["hex"])])
        elif c.conn == conn:
            heard = s["at_ms"]
            if do == "datagram":
                c.datagram(bytes.fromhex(s["hex"]))
            else:
                c.lost() if do else c.take(bytes.fromhex(s["hex"]))
    return compare(c, want)


def main():
    index = json.load(open(sys.argv[1]))
    folder, played, wrong = os.path.dirname(sys.argv[1]), 0, []
    for case in index["cases"]:
        if case["kind"] != "transcript" or "client" not in case["expect"]["plays"]:
            continue
        t = json.load(open(os.path.join(folder, case["file"])))
        if t["client"].get("resimulates"):
            continue  # this client does not say resimulate, and is never asked
        played += 1
        differs = play(t)
        if differs:
            wrong.append("%s: %s" % (case["id"], differs))
    print("\n".join(wrong) if wrong else "played %d" % played)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
