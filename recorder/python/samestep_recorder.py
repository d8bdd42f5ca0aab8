"""Records what one machine sees of a match: commands, sums of states, whole states and notes, as lines of JSON that
samestep replay reads. One file for Python 3.8 or later; it imports only the standard library.

    rec = Recorder("player0.jsonl", title="Pong", tick_rate=60, players=2, by=by,
                   sections=["Ball", "Paddles"],
                   state="struct { Tick uint32; Balls []struct { X, Y float32 } }")
    ...
    rec.command(tick, player, kind, payload)      # changes the state of this tick into that of the next
    step()
    rec.phase(tick + 1, "bounce", ball_hash)      # optional, for each phase of the step, in order
    rec.draws(tick + 1, "serve", draws)           # optional, for each stream of random numbers
    rec.sum(tick + 1, by, hash, [ball_hash, paddles_hash])
    if rec.wanted(tick + 1):                      # SAMESTEP_DUMP=77,78
        values = State().u32(tick + 1).u32(len(balls))    # the count before the elements of a slice
        for ball in balls:
            values.f32(ball.x).f32(ball.y)
        rec.state(tick + 1, by, values)
    ...
    rec.end(tick + 1)
    rec.close()

Lines are written when the ticks advance (flush_every), after a state, and when the buffer is full, so a game that crashes
loses only the latest ticks. A wrong call raises RecordingError, and so does every later call: the first error stays. Only a
wrong call of phase or draws, such as one too many, is left out and counted: the recording goes on, and close tells of it. A game
that must not stop for its recorder passes strict=False, and looks at rec.error. A value of a wrong type or size is a wrong call,
too. Whole numbers and bytes of other modules, such as numpy, are taken.
"""

import base64
import math
import operator
import os
import re
import struct

NO_PLAYER = -1  # of a recording by a server, and of a note about the match
VARIABLE = "SAMESTEP_DUMP"

_MAX_TICK = (1 << 31) - 1
_MAX_LINES = 1 << 20
_MAX_BYTES = (256 << 20) - 64
_WORD = (1 << 64) - 1
_BUFFER_BYTES = 40 << 10
_CHUNK_BYTES = 12 << 10
_MARK = re.compile(r"[A-Za-z0-9._/:-]{1,64}")  # the name of a phase or a stream
_ESCAPES = {c: "\\u%04x" % c for c in range(32)}
_ESCAPES[ord('"')] = '\\"'
_ESCAPES[ord("\\")] = "\\\\"


class RecordingError(Exception):
    """The first error of a recording, or why a phase or draws were left out."""


class State(bytearray):
    """The bytes of a state: its values in the order of the schema. A slice begins with its count as u32. The first value that
    is wrong stays as error, and Recorder.state fails with it."""

    error = None

    def bool(self, value):
        return self._add("<?", value, "a bool")

    def u8(self, value):
        return self._add("<B", value, "a whole number from 0 to 255")

    def u16(self, value):
        return self._add("<H", value, "a whole number from 0 to 65535")

    def u32(self, value):
        return self._add("<I", value, "a whole number from 0 to 2**32-1")

    def u64(self, value):
        return self._add("<Q", value, "a whole number from 0 to 2**64-1")

    def i8(self, value):
        return self._add("<b", value, "a whole number from -128 to 127")

    def i16(self, value):
        return self._add("<h", value, "a whole number from -32768 to 32767")

    def i32(self, value):
        return self._add("<i", value, "a whole number from -2**31 to 2**31-1")

    def i64(self, value):
        return self._add("<q", value, "a whole number from -2**63 to 2**63-1")

    def f32(self, value):
        return self._add("<f", value, "a number that a float32 holds")

    def f64(self, value):
        return self._add("<d", value, "a number that a float64 holds")

    def text(self, value):
        if not isinstance(value, str) or _size(value) < 0:
            return self._wrong(value, "a str that UTF-8 holds")
        data = value.encode("utf-8")
        self.u32(len(data))
        self += data
        return self

    def _add(self, form, value, want):
        try:
            self += struct.pack(form, value)
        except (struct.error, TypeError, OverflowError, ValueError):
            return self._wrong(value, want)
        return self

    def _wrong(self, value, want):
        if self.error is None:
            self.error = "at byte %d: got %s, want %s" % (len(self), _shown(value), want)
        return self


class Recorder:
    """Writes a recording to a path, or to a binary file that is open. Texts of the header have at most 128 bytes."""

    def __init__(self, file, *, title, tick_rate, players, by=NO_PLAYER, match="", build="", platform="", sections=(),
                 state="", strict=True):
        self._failed = None  # the text of the first error
        self._left_out, self._left_out_calls = None, 0
        self._strict = strict
        self._own = not hasattr(file, "write")
        self._file = file
        self._buffer = []
        self._size = self._bytes = self._lines = 0
        self._tick = self._flushed = 0
        self._flush_ticks = 60
        self._ended = False
        self._command_tick = self._commands = self._payloads = self._section_sums = self._states = 0
        self._kinds = set()
        self._marks, self._mark_tick, self._mark_counts = "", 0, {}
        self._wanted = []
        try:
            if self._own:
                self._open(file)
            self._begin(title, tick_rate, players, by, match, build, platform, sections, state)
            self.want(os.environ.get(VARIABLE, ""))
        except RecordingError:
            self._close_file()
            raise

    @property
    def error(self):
        """The text of the first error that ends the recording, or else of why calls were left out; None without any."""
        if self._failed is not None or self._left_out is None:
            return self._failed
        return "%s; calls left out: %d" % (self._left_out, self._left_out_calls)

    def flush_every(self, ticks):
        """Sets after how many ticks the buffered lines are written; 60 unless set."""
        if self._is_whole("flush_every", "ticks", ticks):
            self._flush_ticks = max(ticks, 1)

    def command(self, tick, player, kind, payload):
        """Records that a command of a player, of at most 16,380 bytes, changes the state of a tick into that of the next."""
        if not self._line("command", tick, True) or not self._seated("command", tick, player):
            return
        if tick != self._command_tick:
            self._command_tick, self._commands, self._payloads = tick, 0, 0
        if type(kind) is not int and not self._is_whole("command", "a kind", kind):
            return
        if type(payload) is not bytes:
            payload = self._data("command", "a payload", payload)
            if payload is None:
                return
        size = len(payload)
        if size > 16380:
            return self._fail("command at tick %d: got a payload of %d bytes, want at most %d", tick, size, 16380)
        if self._commands == 8192:
            return self._fail("command at tick %d: want at most %d commands in a tick", tick, 8192)
        if self._payloads + size > 4 << 20:
            return self._fail("command at tick %d: want at most %d bytes of payloads in a tick", tick, 4 << 20)
        if kind not in self._kinds:
            if len(self._kinds) == 4096:
                return self._fail("command at tick %d: want at most %d kinds", tick, 4096)
            if not 0 <= kind < 1 << 16:
                return self._fail("command at tick %d: got kind %d, want 0 to 65535", tick, kind)
            self._kinds.add(kind)
        self._commands += 1
        self._payloads += size
        self._sequences[player] += 1
        data = base64.b64encode(payload).decode("ascii")
        self._add("command", tick, '{"t":%d,"p":%d,"s":%d,"k":%d,"d":"%s"}\n' % (tick, player, self._sequences[player], kind, data))

    def sum(self, tick, player, sum, sections=()):
        """Records the checksum of the state of a tick, as a player computed it, and the sums of all sections or none. Of
        a number only the lower 64 bits count."""
        if not self._line("sum", tick, False) or not self._seated("sum", tick, player):
            return
        if tick < self._sums[player]:
            return self._fail("sum at tick %d: want at least tick %d", tick, self._sums[player])
        if type(sum) is not int or type(sections) not in (list, tuple):
            sum, sections = self._whole("sum", "a sum", sum), self._list("sum", "sections", sections)
            if sum is None or sections is None:
                return
        count = len(sections)
        if not count:
            text = '{"t":%d,"p":%d,"sum":"%016x"}\n' % (tick, player, sum & _WORD)
        elif count == self._sections:
            try:
                text = self._sum_form % (tick, player, sum & _WORD, *[s & _WORD for s in sections])
            except (TypeError, OverflowError):  # no int, but maybe one of another module
                sections = [self._whole("sum", "the sum of a section", s) for s in sections]
                if None in sections:
                    return
                text = self._sum_form % (tick, player, sum & _WORD, *[s & _WORD for s in sections])
        else:
            return self._fail("sum at tick %d: got %d sections, want %d", tick, count, self._sections)
        self._section_sums += count
        if self._section_sums > 5 << 19:
            return self._fail("sum at tick %d: want at most %d sums of sections", tick, 5 << 19)
        self._sums[player] = tick + 1
        self._add("sum", tick, text)

    def note(self, tick, player, topic, text):
        """Records something about a player, or with NO_PLAYER about the match: "name", "chat", "map", or a topic with a dot."""
        if not self._line("note", tick, True) or player != NO_PLAYER and not self._seated("note", tick, player):
            return
        if not self._is_text("note", "a topic", topic) or not self._is_text("note", "a text", text):
            return
        size = _size(topic)
        if not 1 <= size <= 128:
            return self._fail("note at tick %d: got a topic of %d bytes, want 1 to %d bytes of UTF-8", tick, abs(size), 128)
        size = _size(text)
        if not 0 <= size <= 1024:
            return self._fail("note at tick %d: got a text of %d bytes, want 0 to %d bytes of UTF-8", tick, abs(size), 1024)
        who = "" if player == NO_PLAYER else ',"p":%d' % player
        self._add("note", tick, '{"t":%d%s,"note":%s,"text":%s}\n' % (tick, who, _text(topic), _text(text)))

    def phase(self, tick, name, sum):
        """Records a sum of what a phase of the step that leads to the state of a tick has computed, such as the positions after
        "move". Record the phases in their order, before anything of a later tick. A name has 1 to 64 ASCII letters, digits or
        ._-/: and may come again; a tick has at most 64 phases. Others are left out. Of a sum only the lower 64 bits count."""
        self._mark("phase", tick, name, "=%016x", "a sum", sum)

    def draws(self, tick, stream, count):
        """Records how many numbers the step that leads to the state of a tick has drawn from a stream of random numbers. A tick
        has at most 64 streams."""
        self._mark("draws", tick, stream, "#%d", "a count", count)

    def want(self, ticks):
        """Adds ticks whose states are wanted, such as "77,78" or "70-80"."""
        if not self._is_text("want", "ticks", ticks):
            return
        for text in ticks.split(",") if ticks else ():
            span = re.fullmatch(r"([0-9]+)(?:-([0-9]+))?", text)
            first, last = (int(span[1]), int(span[2] or span[1])) if span else (1, 0)
            if first > last or last > _MAX_TICK or len(self._wanted) == 64:
                self._wanted = []
                return self._fail("%s: want at most %d ticks or ranges, such as 77,78 or 70-80", VARIABLE, 64)
            self._wanted.append((first, last))

    def wanted(self, tick):
        """Tells whether the state of a tick should be recorded."""
        return self._is_whole("wanted", "a tick", tick) and any(first <= tick <= last for first, last in self._wanted) and self._failed is None

    def state(self, tick, player, state):
        """Records the state of a tick, as a player has it: a State, or bytes in the same form, at most 8 MiB."""
        if not self._line("state", tick, False) or not self._seated("state", tick, player):
            return
        if not self._has_states:
            return self._fail("state at tick %d: the header has no schema", tick)
        if tick < self._dumps[player]:
            return self._fail("state at tick %d: want at least tick %d", tick, self._dumps[player])
        if self._states == 1 << 16:
            return self._fail("state at tick %d: want at most %d states", tick, 1 << 16)
        if getattr(state, "error", None) is not None:
            return self._fail("state at tick %d: %s", tick, state.error)
        state = self._data("state", "a state", state)
        if state is None:
            return
        got = len(state)
        if got > 8 << 20:
            return self._fail("state at tick %d: want at most %d bytes in a state", tick, 8 << 20)
        want = _measure(self._shape, state, 0)
        if want > got and any(counted or inner for counted, _, inner in self._shape):
            return self._fail("state at tick %d: got %d bytes, want at least %d", tick, got, want)
        if want != got:
            return self._fail("state at tick %d: got %d bytes, want %d", tick, got, want)
        for at in range(0, max(got, 1), _CHUNK_BYTES):
            if not self._line("state", tick, False):
                return
            data = base64.b64encode(state[at:at + _CHUNK_BYTES]).decode("ascii")
            more = ',"more":true' if at + _CHUNK_BYTES < got else ""
            self._add("state", tick, '{"t":%d,"p":%d,"state":"%s"%s}\n' % (tick, player, data, more))
        if self._failed is not None:
            return
        self._dumps[player] = tick + 1
        self._states += 1
        self.flush()

    def end(self, tick):
        """Records the last tick that was played. Nothing may follow but close."""
        if not self._line("end", tick, True):
            return
        self._ended = True
        self._add("end", tick, '{"t":%d,"end":true}\n' % tick)
        self.flush()

    def flush(self):
        """Writes the buffered lines."""
        self._write_marks()
        self._flush()

    def close(self):
        """Writes the buffered lines, and closes the file if the recorder opened it."""
        self._write_marks()
        self._write()
        self._ended = True
        self._close_file()
        if self.error is not None and self._strict:
            raise RecordingError(self.error)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if kind is None:
            self.close()
        else:  # the game's own error is the one to see
            self._write_marks()
            self._write()
            self._close_file()

    def _begin(self, title, tick_rate, players, by, match, build, platform, sections, state):
        sections = self._list("header", "sections", sections)
        named = [("a title", title, 1, 128), ("a match", match, 0, 128), ("a build", build, 0, 128),
                 ("a platform", platform, 0, 128), ("a schema", state, 0, 64 << 10)]
        for what, text, least, most in named:
            self._sized(what, text, least, most)
        self._is_whole("header", "players", players)
        self._is_whole("header", "by", by)
        micro = 0
        try:
            if 0 < tick_rate <= 1000:
                whole = math.floor(tick_rate)
                micro = whole * 1000000 + int((tick_rate - whole) * 1e6 + 0.5)
        except TypeError:
            self._wrong("header", "tick_rate", tick_rate, "a number")
        if self._failed is not None:
            return
        if micro == 0:
            self._fail("header: want a tick rate above 0, at most %d", 1000)
        if not 1 <= players <= 250:
            self._fail("header: got %d players, want 1 to %d", players, 250)
        if not NO_PLAYER <= by < players:
            self._fail("header: got %d as the player that records, want 0 to %d, or -1 for none", by, players - 1)
        if len(sections) > 64:
            self._fail("header: got %d sections, want at most %d", len(sections), 64)
        for i, name in enumerate(sections):
            self._sized("a section", name, 1, 128)
            if name in sections[:i]:
                self._fail("header: sections %d and %d have the same name", sections.index(name), i)
        if state and self._failed is None:
            self._shape, fault = _Parser(state.encode("utf-8")).parse()
            if fault is not None:
                self._fail("header: the schema is no struct type from byte %d on", fault)
        if self._failed is not None:
            return
        self._players, self._by = players, by
        self._sections, self._has_states = len(sections), state != ""
        self._sequences, self._sums, self._dumps = [0] * players, [0] * players, [0] * players
        self._sum_form = '{"t":%d,"p":%d,"sum":"%016x","sections":[' + ",".join(['"%016x"'] * len(sections)) + "]}\n"
        rate = "%d" % (micro // 1000000) + (".%06d" % (micro % 1000000)).rstrip("0").rstrip(".")
        line = '{"log":1,"title":%s,"tick_rate_hz":%s,"players":%d' % (_text(title), rate, players)
        if match:
            line += ',"match":' + _text(match)
        if by != NO_PLAYER:
            line += ',"by":%d' % by
        if build:
            line += ',"build":' + _text(build)
        if platform:
            line += ',"platform":' + _text(platform)
        if sections:
            line += ',"sections":[' + ",".join(map(_text, sections)) + "]"
        if state:
            line += ',"state":' + _text(state)
        self._add("header", 0, line + "}\n")
        self._lines = 0
        self.flush()

    def _mark(self, what, tick, name, form, kind, value):
        """Appends an item to the text of the next note, after it has written the text if that is of another tick or full. A wrong item is
        left out: what explains a recording does not end it."""
        if self._marks and tick != self._mark_tick:
            self._write_marks()
        if not self._may(what, tick, True):
            return
        try:
            value = form % (operator.index(value) & _WORD)
        except TypeError:
            return self._leave_out("%s at tick %d: got %s as %s, want a whole number", what, tick, _shown(value), kind)
        if not isinstance(name, str):
            return self._leave_out("%s at tick %d: got %s as a name, want a str", what, tick, _shown(name))
        if not _MARK.fullmatch(name):
            size = abs(_size(name))
            return self._leave_out("%s at tick %d: got a name of %d bytes, want 1 to %d ASCII letters, digits or ._-/:", what, tick, size, 64)
        if tick != self._mark_tick:
            self._mark_tick, self._mark_counts = tick, {}
        count = self._mark_counts.get(what, 0)
        if count == 64:
            return self._leave_out("%s at tick %d: want at most %d in a tick", what, tick, 64)
        if self._marks and len(self._marks) + len(name) + len(value) + 1 > 1024:
            self._write_marks()
            if not self._may(what, tick, True):
                return
        self._mark_counts[what] = count + 1
        self._marks += (" " if self._marks else "") + name + value

    def _write_marks(self):
        """Writes the note of the phases and draws that wait."""
        if self._failed is not None or not self._marks:
            return
        self._room()
        who = "" if self._by == NO_PLAYER else ',"p":%d' % self._by
        text, self._marks = self._marks, ""
        self._add("phases", self._mark_tick, '{"t":%d%s,"note":"phases","text":"%s"}\n' % (self._mark_tick, who, text))

    def _room(self):
        if self._size > _BUFFER_BYTES:
            self._flush()

    def _line(self, what, tick, ordered):
        """Reports whether a line of a tick may follow, and makes room for it."""
        self._write_marks()
        if not self._may(what, tick, ordered):
            return False
        if tick - self._flushed >= self._flush_ticks:
            self._flushed = tick
            self._flush()
        self._room()
        return self._failed is None

    def _may(self, what, tick, ordered):
        """Reports whether a line of a tick may follow."""
        if self._failed is not None:
            return self._fail("")
        if type(tick) is not int and not self._is_whole(what, "a tick", tick):
            return False
        if self._ended:
            return self._fail("%s at tick %d: after the end", what, tick)
        if not 0 <= tick <= _MAX_TICK:
            return self._fail("%s at tick %d: want at most tick %d", what, tick, _MAX_TICK)
        if ordered and tick < self._tick:
            return self._fail("%s at tick %d: want at least tick %d", what, tick, self._tick)
        if self._lines == _MAX_LINES and what != "end":
            return self._fail("%s at tick %d: want at most %d lines", what, tick, _MAX_LINES)
        return self._failed is None

    def _seated(self, what, tick, player):
        if type(player) is not int and not self._is_whole(what, "a player", player):
            return False
        if 0 <= player < self._players:
            return True
        return self._fail("%s at tick %d: got player %d, want 0 to %d", what, tick, player, self._players - 1)

    def _add(self, what, tick, line):
        data = line.encode("utf-8")
        size = len(data)
        if self._bytes + size > _MAX_BYTES and what != "end":
            return self._fail("%s at tick %d: want at most %d bytes", what, tick, _MAX_BYTES)
        self._buffer.append(data)
        self._size += size
        self._bytes += size
        self._lines += 1
        if tick > self._tick:
            self._tick = tick

    def _flush(self):
        if self._failed is None:
            self._write()

    def _write(self):
        data = b"".join(self._buffer)
        self._buffer, self._size = [], 0
        try:
            while data:
                n = self._file.write(data)
                data = b"" if n is None else data[n:]
        except (OSError, ValueError) as error:
            self._fail("%s", error)
        except TypeError:
            self._wrong("write", "a file", self._file, "one that is open in binary mode")

    def _open(self, path):
        try:
            self._file = open(path, "wb", buffering=0)
        except TypeError:
            self._own = False
            self._wrong("header", "a file", path, "a path or a file that is open in binary mode")

    def _wrong(self, what, name, value, want):
        """Fails because of the type of a parameter."""
        return self._fail("%s: got %s as %s, want %s", what, _shown(value), name, want)

    def _whole(self, what, name, value):
        """Returns a whole number as an int, or None."""
        try:
            return operator.index(value)
        except TypeError:
            self._wrong(what, name, value, "a whole number")

    def _is_whole(self, what, name, value):
        return self._whole(what, name, value) is not None

    def _is_text(self, what, name, value):
        if isinstance(value, str):
            return True
        return self._wrong(what, name, value, "a str")

    def _list(self, what, name, values):
        try:
            return list(values)
        except TypeError:
            self._wrong(what, name, values, "a list")

    def _data(self, what, name, value):
        try:
            return memoryview(value).tobytes()
        except TypeError:
            self._wrong(what, name, value, "bytes")

    def _sized(self, what, text, least, most):
        if not self._is_text("header", what, text):
            return
        size = _size(text)
        if not least <= size <= most:
            self._fail("header: got %s of %d bytes, want %d to %d bytes of UTF-8", what, abs(size), least, most)

    def _fail(self, form, *args):
        """Keeps the first error, and raises it if the recorder is strict."""
        if self._failed is None:
            self._failed = "recorder: " + form % args
        if self._strict:
            raise RecordingError(self._failed)
        return False

    def _leave_out(self, form, *args):
        """Counts a call that is left out, keeps why the first one is, and raises why this one is if the recorder is strict."""
        why = "recorder: " + form % args
        self._left_out = self._left_out or why
        self._left_out_calls += 1
        if self._strict:
            raise RecordingError(why)
        return False

    def _close_file(self):
        if self._own and not self._file.closed:
            self._file.close()


class _Parser:
    """Reads a schema (docs/spec/recordings.md, "Types of states") from the left to the right, up to its first fault. The shape that it returns is
    a list of the parts of a state: (False, n, None) is n bytes; (True, n, None) is a slice or a string with elements of n bytes;
    (True, 0, parts) is a slice, and (False, n, parts) an array of n, whose elements have the parts."""

    def __init__(self, text):
        self._text, self._at, self._nodes = text, 0, 0

    def parse(self):
        """Returns the shape and None, or the byte from which on the text is no struct type."""
        parts = []
        try:
            self._space()
            self._need(self._text.startswith(b"struct", self._at))
            self._type(1, parts)
            self._space()
            self._need(self._at == len(self._text))
        except _Fault:
            return None, self._at
        return parts, None

    def _need(self, right):
        if not right:
            raise _Fault

    def _space(self, of=b" \t\r\n"):
        while self._text[self._at:self._at + 1] and self._text[self._at] in of:
            self._at += 1

    def _take(self, c):
        self._space()
        if self._text[self._at:self._at + 1] != c:
            return False
        self._at += 1
        return True

    def _word(self):
        """Reads a name or a number."""
        self._space()
        word = re.compile(rb"[0-9A-Za-z_]*").match(self._text, self._at)[0]
        self._at += len(word)
        return word

    def _type(self, depth, parts):
        """Reads a type, and appends its parts."""
        self._nodes += 1
        self._need(depth <= 32 and self._nodes <= 4096)
        if self._take(b"["):
            return self._elements(depth, parts)
        word = self._word()
        if word == b"struct":
            self._fields(depth, parts)
        elif word == b"string":
            parts.append((True, 1, None))
        elif word in _NUMBERS:
            self._run(_NUMBERS[word], parts)
        else:
            self._at -= len(word)
            raise _Fault

    def _run(self, n, parts):
        """Appends bytes to the last part."""
        if parts and not parts[-1][0] and parts[-1][2] is None:
            n += parts.pop()[1]
        self._need(n <= 1 << 30)
        parts.append((False, n, None))

    def _elements(self, depth, parts):
        """Reads an array or a slice after its bracket."""
        word = self._word()
        self._need(not word or word.isdigit() and len(word.lstrip(b"0")) <= 10 and 1 <= int(word) <= 1 << 30)
        self._need(self._take(b"]"))
        count, each = int(word or 0), []
        self._type(depth + 1, each)
        counted, n, inner = each[0]
        if len(each) > 1 or counted or inner:
            parts.append((not word, count, each))
        elif not word:
            parts.append((True, n, None))
        else:
            self._run(count * n, parts)

    def _fields(self, depth, parts):
        """Reads a struct after its keyword."""
        self._need(self._take(b"{"))
        empty = True
        while not self._take(b"}"):
            names, empty = 0, False
            while names == 0 or self._take(b","):
                word = self._word()
                if not word or word[:1].isdigit():
                    self._at -= len(word)
                    raise _Fault
                names += 1
            start = self._at
            for _ in range(names):  # each has parts of its own
                self._at = start
                self._type(depth + 1, parts)
            self._space(b" \t\r")
            if self._text[self._at:self._at + 1] in (b"\n", b";"):
                self._at += 1
            else:
                self._need(self._text[self._at:self._at + 1] == b"}")
        self._need(not empty or depth == 1)


class _Fault(Exception):
    """The text is no struct type."""


_NUMBERS = {b"bool": 1, b"int8": 1, b"uint8": 1, b"byte": 1, b"int16": 2, b"uint16": 2, b"int32": 4, b"uint32": 4,
            b"float32": 4, b"int64": 8, b"uint64": 8, b"float64": 8}


def _measure(parts, state, at):
    """Returns the size that the parts have, from at on in a state. It stops with more than the state's bytes at the first part
    that has no room."""
    for counted, n, inner in parts:
        if at > len(state):
            break
        count = n if inner else 1
        if counted:
            at += 4
            if at > len(state):
                break
            count = int.from_bytes(state[at - 4:at], "little")
        if inner is None:
            at += count * n
            continue
        while count > 0 and at <= len(state):
            at = _measure(inner, state, at)
            count -= 1
    return at


def _shown(value):
    return "%.40r of type %s" % (value, type(value).__name__)


def _size(text):
    """The bytes of a text in UTF-8; below 0 if it has none."""
    try:
        return len(text.encode("utf-8"))
    except UnicodeEncodeError:
        return -len(text.encode("utf-8", "surrogatepass"))


def _text(text):
    return '"' + text.translate(_ESCAPES) + '"'
