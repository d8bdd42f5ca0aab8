package mutants

// ordering: what the coordinator does with commands.
var ordering = []Mutant{
	{
		Name: "a frame is in the order of arrival",
		File: "lockstep/coordinator/seal.go",
		Old:  "slices.SortFunc(commands, func(a, b lockstep.Command) int { return record.Compare(&a, &b) })",
		New:  "_ = slices.SortFunc[[]lockstep.Command]",
		Hits: "I2",
		Seen: "OpenRA and others ordered by arrival before they sorted",
	},
	{
		Name: "a command overtakes one that was sent before",
		File: "lockstep/coordinator/seat.go",
		Old:  "\t\t\tt = max(t, r.Tick)\n",
		New:  "",
		Hits: "I2",
	},
	{
		Name: "a repeat runs again",
		File: "lockstep/coordinator/coordinator.go",
		Old:  "if r, ok := s.receipt(seq); ok {",
		New:  "if r, ok := s.receipt(seq); ok && r.Reason != Accepted {",
		Hits: "I2",
	},
	{
		Name: "a repeat is accepted for another tick",
		File: "lockstep/coordinator/coordinator.go",
		Old:  "\t\treturn r\n\t}\n\tif reason := s.order(seq)",
		New:  "\t\tr.Tick++\n\t\treturn r\n\t}\n\tif reason := s.order(seq)",
		Hits: "I2",
	},
	{
		Name: "answers are forgotten too soon",
		File: "lockstep/coordinator/seat.go",
		Old:  "return r, r.Sequence == seq && seq != 0",
		New:  "return r, r.Sequence == seq && seq != 0 && s.high < seq+2",
		Hits: "I2",
	},
	{
		Name: "an accepted command is forgotten now and then",
		File: "lockstep/coordinator/coordinator.go",
		Old:  "\tc.slot(cmd.Tick).add(*cmd)\n",
		New:  "\tif seq%97 != 0 {\n\t\tc.slot(cmd.Tick).add(*cmd)\n\t}\n",
		Hits: "I2",
	},
	{
		Name: "a command runs one tick later than it was told",
		File: "lockstep/coordinator/coordinator.go",
		Old:  "return s.remember(lockstep.Receipt{Sequence: seq, Tick: cmd.Tick})",
		New:  "return s.remember(lockstep.Receipt{Sequence: seq, Tick: cmd.Tick - 1})",
		Hits: "I2",
	},
	{
		Name: "the issuer is who sat there before",
		File: "lockstep/host/receive.go",
		Old:  "r := h.c.Submit(p.seat, m.Sequence, m.Command, m.Bytes)",
		New:  "r := h.c.Submit(Player(int(p.id)%len(h.seats)), m.Sequence, m.Command, m.Bytes)",
		Hits: "I2 I7",
	},
	{
		Name: "the order of a map decides when a client tries again",
		File: "lockstep/player/ladder.go",
		Old:  "\tc.random += 0x9e3779b97f4a7c15\n",
		New:  "\tfor k := range map[uint64]bool{2: true, 5: true, 11: true, 23: true} {\n\t\tc.random += k\n\t\tbreak\n\t}\n",
		Hits: "I11",
	},
}

// streams: keyframes, tails and resuming.
var streams = []Mutant{
	{
		Name: "a joiner's tail begins one record too early",
		File: "lockstep/host/sync.go",
		Old:  "tick:  sim.Tick(), position: h.ring.Next(), made: h.now,",
		New:  "tick:  sim.Tick(), position: h.ring.Next() - 1, made: h.now,",
		Hits: "I4",
	},
	{
		Name: "a keyframe without the players' last sequences",
		File: "lockstep/host/sync.go",
		Old:  "j.last = h.c.AppendLast(j.last[:0])",
		New:  "j.last = j.last[:0]",
		Hits: "I1 I2 I4",
	},
	{
		Name: "an old keyframe is as good as a new one",
		File: "lockstep/host/sync.go",
		Old:  "case h.ring.Has(k.position) && (h.options.Relay || young):",
		New:  "case h.options.Relay || young || h.stats.Keyframes > 0:",
		Hits: "I9",
	},
	{
		Name: "a keyframe's chunk is sent twice",
		File: "lockstep/host/sync.go",
		Old:  "\t\tp.syncAt += n\n",
		New:  "\t\tp.syncAt += n - n*int(h.stats.Syncs%7)/6\n",
		Hits: "I9 I10",
	},
	{
		Name: "a resumed stream leaves one record out",
		File: "lockstep/host/auth.go",
		Old:  "p.cursor, p.high, p.acked = position, position, position",
		New:  "p.cursor, p.high, p.acked = position+1, position+1, position+1",
		Hits: "I4",
	},
	{
		Name: "a stream is resumed though the ring has lost its place",
		File: "lockstep/host/ring.go",
		Old:  "return r.first <= p && p <= r.next",
		New:  "return p <= r.next",
		Hits: "I4 I10",
	},
	{
		Name: "the ring says that it has what it wrote over",
		File: "lockstep/host/ring.go",
		Old:  "r.next-r.first < protocol.Position(len(r.spans))",
		New:  "r.next-r.first < 2*protocol.Position(len(r.spans))",
		Hits: "I4",
	},
	{
		Name: "players see what the log has not taken",
		File: "lockstep/host/host.go",
		Old:  "Tee(log, (*hostLog)(x)), x.coordinatorOptions())",
		New:  "Tee((*hostLog)(x), log), x.coordinatorOptions())",
		Hits: "I3",
	},
	{
		Name: "players see what is not on the disk yet",
		File: "replay/writer.go",
		Old:  "\t\tcase record.KindFrame, record.KindEmpty, record.KindEnd:\n\t\t\treturn w.commit()",
		New:  "\t\tcase record.KindEnd:\n\t\t\treturn w.commit()",
		Hits: "I3",
	},
	{
		Name: "nobody waits for the commit",
		File: "lockstep/host/curtain.go",
		Old:  "\t\tend = min(end, h.curtain.committed)",
		New:  "\t\tend = max(end, h.curtain.committed)",
		Hits: "I3",
	},
	{
		Name: "spectators see one record more than their delay allows",
		File: "lockstep/host/curtain.go",
		Old:  "end = min(end, h.delayed())",
		New:  "end = min(end, h.delayed()+1)",
		Hits: "I12",
	},
	{
		Name: "delayed spectators are given the players' keyframe",
		File: "lockstep/host/curtain.go",
		Old:  "if k != nil && k.position <= end {",
		New:  "if k != nil && k.position <= h.ring.Next() {",
		Hits: "I12",
	},
	{
		Name: "delayed spectators are told the present tick",
		File: "lockstep/host/curtain.go",
		Old:  "return h.c.Now() - min(h.c.Now(), h.options.SpectatorDelay)",
		New:  "return h.c.Now()",
		Hits: "I12",
	},
	{
		Name: "a match that goes on after a crash has forgotten the sequences",
		File: "lockstep/coordinator/recovery.go",
		Old:  "s.remember(lockstep.Receipt{Sequence: c.Sequence, Tick: f.Tick})\n\t\ts.sealed, s.last = c.Sequence, f.Tick",
		New:  "s.last = f.Tick",
		Hits: "I2",
	},
	{
		Name: "a match that goes on after a crash counts its records anew",
		File: "lockstep/host/resumption.go",
		Old:  "r.position += protocol.Position(max(1, rec.Empty))",
		New:  "r.position++",
		Hits: "I4",
	},
}

// seats: who owns what, and timers.
var seats = []Mutant{
	{
		Name: "an old connection takes the seat from the new one",
		File: "lockstep/host/seat.go",
		Old:  "if s.peer != p {\n\t\treturn // replaced, or gone already",
		New:  "if s.peer == nil {\n\t\treturn // replaced, or gone already",
		Hits: "I6 I9",
	},
	{
		Name: "a player who joins before the next tick takes over from one who left, in silence",
		File: "lockstep/host/seat.go",
		Old:  "\t\tif s.want == s.told && !s.leaves {\n",
		New:  "\t\tif s.want == s.told {\n\t\t\ts.leaves = false\n",
		Hits: "I2",
		Seen: "here: corpus, left-and-joined-between-two-ticks",
	},
	{
		Name: "a replaced connection goes on",
		File: "lockstep/host/auth.go",
		Old: `		s.peer = nil // fenced: it can neither speak for the seat nor lose it
		h.close(old, protocol.CloseReplaced, "another connection has the seat now")
`,
		New:  "\t\t_ = old\n",
		Hits: "I2 I6",
	},
	{
		Name: "the silent are never given up",
		File: "lockstep/host/clock.go",
		Old:  "if h.now >= p.heard+h.options.IdleTimeout {",
		New:  "if h.now >= p.heard+1000*h.options.IdleTimeout {",
		Hits: "I5",
	},
	{
		Name: "the match stands still while two players are away",
		File: "lockstep/host/pace.go",
		Old:  "h.pace.held = h.c.Now() == 0 && h.players() < h.options.StartPlayers",
		New:  "h.pace.held = h.players() < len(h.seats)-1",
		Hits: "I6",
	},
	{
		Name: "answers that nobody reads pile up",
		File: "lockstep/host/host.go",
		Old:  "if len(p.out) > maxPrivate-roomClosing {",
		New:  "if false {",
		Hits: "I5",
	},
	{
		Name: "one who breaks the protocol takes the next one along",
		File: "lockstep/host/receive.go",
		Old: `	h.close(p, protocol.CloseMalformed, "malformed")
`,
		New: `	h.close(p, protocol.CloseMalformed, "malformed")
	if q := h.find(p.id - 1); q != nil {
		h.close(q, protocol.CloseMalformed, "malformed")
	}
`,
		Hits: "I7",
	},
}

// checksums: comparing them, and what follows.
var checksums = []Mutant{
	{
		Name: "a referee whose memory was changed accuses everybody",
		File: "lockstep/coordinator/checks.go",
		Old:  "if root != k.Root && !differed && !earlier {",
		New:  "if false {",
		Hits: "I7 desync",
	},
	{
		Name: "a referee whose memory was changed believes the first who is wrong, too",
		File: "lockstep/coordinator/retrial.go",
		Old:  "twice == nil || twice.Root() != sim.Root()",
		New:  "twice != nil",
		Hits: "I7 desync",
		Seen: "here: corpus, a-player-and-the-referee-flipped",
	},
	{
		Name: "a referee that was wrong goes on with its own state",
		File: "lockstep/coordinator/retrial.go",
		Old:  "return c.referee.Simulation().CopyFrom(sim)",
		New:  "return nil",
		Hits: "I1 I7 desync",
	},
	{
		Name: "no checksum differs",
		File: "lockstep/coordinator/checks.go",
		Old:  "\tdiffers := root != k.Root\n",
		New:  "\tdiffers := false\n",
		Hits: "desync",
	},
	{
		Name: "a right checksum differs now and then",
		File: "lockstep/coordinator/checks.go",
		Old:  "\tdiffers := root != k.Root\n",
		New:  "\tdiffers := root != k.Root || k.Root%61 == 0\n",
		Hits: "I7 desync",
	},
	{
		Name: "the desync of one is told of another",
		File: "lockstep/coordinator/checks.go",
		Old:  "c.announce(k, p, last, sum, retrial)",
		New:  "c.announce(k, 0, last, sum, retrial)",
		Hits: "I7 desync",
	},
	{
		Name: "a liar's report is the agreed checksum",
		File: "lockstep/coordinator/checks.go",
		Old:  "\tcase k.Status == CheckAgreed:\n\t\treturn c.compare(k, p, sum)",
		New:  "\tcase k.Status == CheckAgreed:\n\t\tif p == 0 {\n\t\t\tk.Root = sum.Root\n\t\t}\n\t\treturn c.compare(k, p, sum)",
		Hits: "I7 desync",
		Seen: "OpenFront #3959: one forged hash made the honest player the wrong one",
	},
	{
		Name: "without a referee, the checksum that the fewest have said is the agreed one",
		File: "lockstep/coordinator/checks.go",
		Old:  "if err := c.agree(k, groups[0].Root); err != nil {",
		New:  "if err := c.agree(k, groups[len(groups)-1].Root); err != nil {",
		Hits: "I7",
	},
	{
		Name: "a report names an agreement after its tick",
		File: "lockstep/coordinator/checks.go",
		Old:  "last := c.standingBefore(p, k.Tick).agreed",
		New:  "last := c.checks.players[p].agreed",
		Hits: "I4 I7",
		Seen: "here: corpus, agreed-after-it-differed",
	},
	{
		Name: "one player at a time is asked for a state",
		File: "lockstep/host/relay.go",
		Old:  "if h.moments == nil || h.now < h.joins.askAt {",
		New:  "if h.moments == nil || h.now < h.joins.askAt || len(h.inquiries) > 0 {",
		Hits: "I6 I9",
		Seen: "here: corpus, states-that-nobody-sends",
	},
	{
		Name: "who differs is not healed",
		File: "lockstep/host/desync.go",
		Old:  "\t\t\th.startSync(p, \"desynced\")\n",
		New:  "",
		Hits: "I9",
	},
}
