"""A game in Python: merchants, who harvest and trade. It records a match with the recorder in Python. See TestRecordedFaults.

    market.py RECORDER-FOLDER OUT.jsonl BY FAULT

FAULT is none, or trade: a machine that adds the prices in another order from tick 33 on.
"""

import struct
import sys

sys.path.insert(0, sys.argv[1])
from samestep_recorder import Recorder, State  # noqa: E402

out, by, fault = sys.argv[2], int(sys.argv[3]), sys.argv[4]
gold, grain, seed, draws = [10.0 + i for i in range(5)], [1.5] * 5, 7, 0


def draw():
    global seed, draws
    draws += 1
    seed = (seed * 1664525 + 1013904223) & 0xFFFFFFFF
    return seed


def fnv(data):
    h = 0xCBF29CE484222325
    for c in data:
        h = (h ^ c) * 0x100000001B3 & (1 << 64) - 1
    return h


def parts():
    return [struct.pack("<I", seed), struct.pack("<5d", *gold), struct.pack("<5d", *grain)]


def record(tick):
    rec.sum(tick, by, fnv(b"".join(parts())), [fnv(p) for p in parts()])
    if rec.wanted(tick):
        values = State().u32(seed)
        for v in gold + grain:
            values.f64(v)
        rec.state(tick, by, values)


with Recorder(out, title="Market", tick_rate=20, players=2, by=by, match="market 7", platform="linux/amd64", sections=["Seed", "Gold", "Grain"],
              state="struct { Seed uint32; Gold, Grain [5]float64 }") as rec:
    record(0)
    for t in range(1, 81):
        draws = 0
        if t % 7 == 0:
            rec.command(t - 1, t % 2, 1, bytes([t]))
        for i in range(5):
            grain[i] += draw() % 1000 / 1000
        rec.phase(t, "harvest", fnv(b"".join(parts())))
        for i in range(5):
            shares = [g / 7 for g in grain]
            if fault == "trade" and t >= 33:
                shares.reverse()
            gold[i] += sum(shares) / (i + 1)
        rec.phase(t, "trade", fnv(b"".join(parts())))
        rec.draws(t, "weather", draws)
        record(t)
    rec.end(80)
