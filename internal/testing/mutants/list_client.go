package mutants

// clients: how a client follows the stream.
var clients = []Mutant{
	{
		Name: "unanswered commands are not sent again",
		Func: "lockstep/player.(*Client).Disconnected",
		Rule: "o.unsent() ->",
		Hits: "I9",
	},
	{
		Name: "a command is sent again with a new sequence",
		Func: "lockstep/player.(*outstanding).unsent",
		Rule: "o.l[i].s = false -> o.l[i].s = false; o.l[i].sequence = o.next; o.next++",
		Hits: "I2",
	},
	{
		Name: "prediction runs on the confirmed state",
		Func: "lockstep/player.(*Client).redo",
		Rule: "return s.CopyFrom(c) -> s = c; return nil",
		Hits: "I1",
	},
	{
		Name: "some reported checksums are off by one",
		Func: "lockstep/player.(*Client).sendReports",
		Rule: "x{k: protocol.KindChecksum, a: t, Hash: r, b: s} -> x{k: protocol.KindChecksum, a: t, Hash: r + uint64(t%7/6), b: s}",
		Hits: "I7 desync",
	},
	{
		Name: "records of the old stream count in the new one",
		Func: "lockstep/player.(*Client).adopt",
		Rule: "a, b, p = true, false, q -> a, b, p = true, false, max(p, q)",
		Hits: "I4 I9",
	},
	{
		Name: "some ticks without commands are skipped",
		Func: "lockstep/player.(*runner).frame",
		Rule: "return r.FrameAfter(t) -> if t%97 == 96 && len(r.Frame.Commands) == 0 { return r.FrameAfter(t + 1) }; return r.FrameAfter(t)",
		Hits: "I1 I9 I10",
	},
	{
		Name: "a client gives up at the first failure",
		Func: "lockstep/player.(*backoff).next",
		Rule: "l.Attempts -> 1",
		Hits: "I9",
	},
}

// files: the log on the disk.
var files = []Mutant{
	{
		Name: "a failed write is ignored",
		Func: "replay.(*Writer).write",
		Rule: "if e != nil { return w.fail(e) } ->",
		Hits: "I3 I8",
	},
	{
		Name: "block checks are not verified",
		Func: "replay.(*Reader).readBlock",
		Rule: "if w := checkBlock(b, k); c != w { z } -> if w := checkBlock(b, k); false { z }",
		Hits: "I8 I10",
	},
	{
		Name: "some runs of empty ticks are one too short",
		Func: "replay.(*emptyRun).add",
		Rule: "t += n -> if t += n; t == 5 { t-- }",
		Hits: "I3 I8",
	},
}

// regressions: mistakes of ours that the simulator found first.
var regressions = []Mutant{
	{
		Name: "a client that resumes in a paused match does not acknowledge",
		Func: "lockstep/player.(*Client).welcome",
		Rule: "a, b = true, true ->",
		Hits: "I9",
		Seen: "here: corpus, resumed-while-paused",
	},
	{
		Name: "a client catches up with a tick that a crash rolled back",
		Func: "lockstep/player.(*Client).welcome",
		Rule: "s = w.Tick -> s = max(s, w.Tick)",
		Hits: "I9",
		Seen: "here: corpus, catching-up-with-a-tick-taken-back",
	},
	{
		Name: "a client reports a tick that a crash rolled back",
		Func: "lockstep/player.(*Client).sendReports",
		Rule: "a || b || i.from() == 0 -> a || b",
		Hits: "I7",
		Seen: "here: corpus, report-of-a-tick-taken-back",
	},
	{
		Name: "a client keeps a receipt that a crash lost",
		Func: "lockstep/player.(*outstanding).known",
		Rule: "a, b = false, false -> b = false",
		Hits: "I2 I9",
		Seen: "here: corpus, answer-that-a-crash-forgot",
	},
	{
		Name: "a resume in the tick of the pause is lost",
		Func: "lockstep/coordinator.(*Coordinator).Resume",
		Rule: "a, b = false, false -> a = false",
		Hits: "I6",
		Seen: "here: corpus, paused-and-at-once-resumed",
	},
	{
		Name: "a tick that ends in a pause is not shown before the next tick",
		Func: "lockstep/player.(*pacer).pass",
		Rule: "w && !h && l < 0 -> w && l < 0",
		Hits: "I9",
		Seen: "here: corpus, ended-in-a-pause-after-a-pause",
	},
	{
		Name: "delayed spectators see everything once the log has failed",
		Func: "lockstep/host.(*Host).visible",
		Rule: "h.ended() -> h.over",
		Hits: "I12",
		Seen: "here: corpus, a-failed-log-behind-the-barrier",
	},
	{
		Name: "checksums of long-delayed spectators are not compared",
		Func: "lockstep/host.(*Host).watcherReport",
		Rule: "k := h.checkSeen(t) -> k, _ := h.c.Check(t)",
		Hits: "I9",
		Seen: "here: corpus, wrong-long-behind-the-barrier",
	},
	{
		Name: "a removed desynced player returns over another connection",
		Func: "lockstep/host.(*Host).stillDiffers",
		Rule: "d != LogDesynced -> d == ResyncDesynced",
		Hits: "I9",
		Seen: "here: corpus, removed-and-back",
	},
	{
		Name: "a late auth takes the seat from the player's newer connection",
		Func: "lockstep/host.(*Host).outrun",
		Rule: "o == nil || a < b -> o == nil || b > 0",
		Hits: "I9",
		Seen: "here: corpus, auth-long-on-its-way",
	},
	{
		Name: "a referee that was wrong once is trusted from then on",
		Func: "lockstep/coordinator.(*Coordinator).replaceReferee",
		Rule: "s - s%n -> s",
		Hits: "test",
		Test: "TestResimulationAfterResimulation",
		Seen: "here: corpus, the-referee-flipped-twice",
	},
	{
		Name: "a re-simulation from a forged agreement is trusted",
		Func: "lockstep/coordinator.(*Coordinator).resimulate",
		Rule: "t <= r && f >= e -> t <= r",
		Hits: "test",
		Test: "TestResimulationAfterResimulation",
		Seen: "here: corpus, a-liar-agreed-with-the-wrong-referee",
	},
	{
		Name: "without a referee, a desynced player who returns before the verdict stays",
		Func: "lockstep/host.(*Host).report",
		Rule: "for i := range s { z } -> for i := range s[:0] { z }",
		Hits: "I9",
		Seen: "here: corpus, removed-without-a-referee-and-back",
	},
	{
		Name: "a referee whose ring is shorter than its snapshots does not re-simulate",
		Func: "lockstep/coordinator.(*Coordinator).before",
		Rule: "f = t + 1 -> return nil, nil",
		Hits: "I7 desync",
		Seen: "here: corpus, a-referee-with-a-short-ring",
	},
	{
		Name: "a client keeps sequences that a crash left beyond the window",
		Func: "lockstep/player.(*outstanding).known",
		Rule: "n > 0 && o.full(s) -> n < 0",
		Hits: "I9",
		Seen: "here: corpus, commands-beyond-the-window-after-a-power-cut",
	},
	{
		Name: "a match accepts a speed of 0",
		Func: "lockstep/record.CheckSpeed",
		Rule: "p < MinSpeed || p > MaxSpeed -> p > MaxSpeed",
		Hits: "I6",
		Seen: "here: a server's SpeedSet of 0 made a client's Next return at once for ever",
	},
}
