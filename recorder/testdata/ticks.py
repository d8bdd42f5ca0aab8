"""Records 20,000 ticks of 4 players with 8 sections, to a file that it gets. Prints the nanoseconds of processor
time a tick. See ticks_test.go."""

import sys
import time

sys.path.insert(0, "python")
from samestep_recorder import Recorder  # noqa: E402

with Recorder(sys.argv[1], title="Ticks", tick_rate=60, players=4, sections="abcdefgh") as rec:
    count = 20000
    start = time.process_time_ns()
    for tick in range(count):
        for player in range(4):
            rec.command(tick, player, 7, b"abcdefgh")
        rec.sum(tick + 1, 0, tick * 0xD6E8FEB86659FD93, [(tick + i) * 0x9E3779B97F4A7C15 for i in range(8)])
    print("%d ns" % ((time.process_time_ns() - start) // count))
