"""Makes the calls of scripts, which it reads from standard input, with the recorder in Python. See calls_test.go."""

import os
import sys

sys.path.insert(0, "python")
from samestep_recorder import Recorder, State  # noqa: E402


def data(word):
    return b"a" * int(word[1:]) if word[0] == "*" else bytes.fromhex(word[1:])


def text(word):
    return data(word).decode("utf-8", "surrogatepass")


def finish():
    rec.close()
    if rec.error:
        print(rec.error)
    print("closed")


rec, scripts = None, 0
for line in sys.stdin:
    name, *words = line.split()
    if name == "header":
        title, rate, players, by, match, build, platform, state, *sections = words
        if rec:
            finish()
        rec = Recorder("%s/%d.jsonl" % (sys.argv[1], scripts), title=text(title), tick_rate=float(rate), players=int(players), by=int(by),
                       match=text(match), build=text(build), platform=text(platform), state=text(state),
                       sections=[text(s) for s in sections], strict=False)
        scripts += 1
    elif name == "flush":
        rec.flush_every(int(words[0]))
    elif name == "want":
        rec.want(words[0])
    elif name == "wanted":
        print(int(rec.wanted(int(words[0]))))
    elif name == "command":
        rec.command(int(words[0]), int(words[1]), int(words[2]), data(words[3]))
    elif name == "sum":
        rec.sum(int(words[0]), int(words[1]), int(words[2], 16), [int(s, 16) for s in words[3:]])
    elif name == "note":
        rec.note(int(words[0]), int(words[1]), text(words[2]), text(words[3]))
    elif name == "phase":
        rec.phase(int(words[0]), text(words[1]), int(words[2], 16))
    elif name == "draws":
        rec.draws(int(words[0]), text(words[1]), int(words[2]))
    elif name == "state":
        rec.state(int(words[0]), int(words[1]), data(words[2]))
    elif name == "values":
        values = State().bool(True).i8(-2).i16(-300).i32(-70000).i64(-5000000000)
        values.u8(250).u16(65000).u32(4000000000).u64(18000000000000000000)
        values.f32(-0.1).f64(1e300).text("h\u00e9").u32(2).u8(1).u8(2)
        rec.state(int(words[0]), 0, values)
    elif name == "end":
        rec.end(int(words[0]))
    elif name == "kill":
        os._exit(0)
    else:
        sys.exit(2)
finish()
