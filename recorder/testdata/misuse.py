"""Calls the recorder in Python with wrong types and sizes, and prints the errors. See misuse_test.go."""

import array
import io
import sys

sys.path.insert(0, "python")
from samestep_recorder import Recorder, RecordingError, State  # noqa: E402


class Text(io.StringIO):
    """A file that takes no bytes."""

    def __repr__(self):
        return "Text()"


right = {"title": "Pong", "tick_rate": 60, "players": 2, "sections": ["a", "b"], "state": "struct { X uint8 }"}


def header(file=None, **changes):
    def call(strict):
        return Recorder(io.BytesIO() if file is None else file, **dict(right, **changes), strict=strict)
    return call


def record(name, *args):
    def call(strict):
        rec = Recorder(io.BytesIO(), **right, strict=strict)
        rec.want("1")
        getattr(rec, name)(*args)
        return rec
    return call


calls = [
    header(title=5), header(match=b"x"), header(build=None), header(platform=1.5), header(state=[]), header(players=2.0),
    header(players="2"), header(by=None), header(tick_rate="60"), header(tick_rate=None), header(sections=3),
    header(sections=["a", 5]), header(file=7.5), header(file=Text()),
    record("flush_every", "1"), record("want", 77), record("wanted", None),
    record("command", "1", 0, 1, b""), record("command", 1, None, 1, b""), record("command", 1, 0, 1.5, b""),
    record("command", 1, 0, [], b""), record("command", 1, 0, 70000, b""), record("command", 1, 0, 1, "text"),
    record("command", 1, 0, 1, 8), record("command", 1, 0, 1, [1]), record("command", 1.0, 0, 1, b""),
    record("sum", 1, 0, 1.5), record("sum", 1, 0, "ab"), record("sum", 1, 0, 1, None), record("sum", 1, 0, 1, 7),
    record("sum", 1, 0, 1, [1, 2.5]), record("sum", 1, 0, 1, "ab"), record("sum", 1, "0", 1),
    record("note", 1, 0, 5, "x"), record("note", 1, 0, "x", b"y"), record("note", 1, 0.5, "x", "y"),
    record("phase", 1, 5, 1), record("phase", 1, "move", 1.5), record("phase", 1.0, "move", 1), record("phase", 1, "m\ud800", 1), record("draws", 1, b"x", 1),
    record("draws", 1, "dice", "1"),
    record("state", 1, 0, "x"), record("state", 1, 0, None), record("state", 1, 0, [1]), record("state", None, 0, b"x"),
    record("state", 1, 0, State().u8(256)), record("state", 1, 0, State().u8(1).f32("x")), record("state", 1, 0, State().f32(1e39)),
    record("state", 1, 0, State().text(5)), record("state", 1, 0, State().text("\ud800")), record("state", 1, 0, State().i8(1.0)),
    record("state", 1, 0, State().u16(1)), record("end", "1"),
]
for call in calls:
    try:
        call(True)
        print("no error")
    except RecordingError as error:
        print(error)
    rec = call(False)  # the same error, and the game goes on
    first = rec.error
    rec.sum(2, 0, 1)
    rec.close()
    if not first or rec.error != first:
        print("not strict: got %r, then %r" % (first, rec.error))


class Number:
    """A whole number of another module."""

    def __init__(self, n):
        self.n = n

    def __index__(self):
        return self.n


file = io.BytesIO()
with Recorder(file, **right) as rec:
    rec.command(1, 0, 1, array.array("H", [1, 2]))
    rec.phase(2, "move", Number(7))
    rec.draws(2, "dice", Number(7))
    rec.sum(2, 0, Number(7), (Number(1), 2))
    rec.state(2, 0, memoryview(b"x"))
print(file.getvalue().decode().split("\n", 1)[1], end="")

# Wrong calls of phase and draws raise errors, and the recording goes on. Its end tells of them.
file = io.BytesIO()
try:
    with Recorder(file, **right) as rec:
        for n in range(66):
            try:
                rec.phase(2, "m" if n else 5, Number(7) if n != 1 else 1.5)
            except RecordingError as error:
                print(n, error)
        rec.end(2)
except RecordingError as error:
    print("close", error)
text = file.getvalue().decode()
print(text.count("m="), text.split("\n")[-2])
