package mutants

// ordering: how the coordinator orders commands.
var ordering = []Mutant{
	{
		Name: "a frame keeps the order of arrival",
		Func: "lockstep/coordinator.(*Coordinator).seal",
		Rule: "slices.SortFunc(c, f) -> slices.SortFunc(c[:0], f)",
		Hits: "I2",
		Seen: "OpenRA and others ordered by arrival before they sorted",
	},
	{
		Name: "a command overtakes an earlier one",
		Func: "lockstep/coordinator.(*seat).place",
		Rule: "t = max(t, r.Tick) ->",
		Hits: "I2",
	},
	{
		Name: "a repeated command runs again",
		Func: "lockstep/coordinator.(*Coordinator).Submit",
		Rule: "if r, o := s.receipt(q); o { z } -> if r, o := s.receipt(q); o && r.Reason != lockstep.Accepted { z }",
		Hits: "I2",
	},
	{
		Name: "a repeated command is accepted for another tick",
		Func: "lockstep/coordinator.(*Coordinator).Submit",
		Rule: "if r, o := s.receipt(q); o { return r } -> if r, o := s.receipt(q); o { r.Tick++; return r }",
		Hits: "I2",
	},
	{
		Name: "receipts are forgotten too soon",
		Func: "lockstep/coordinator.(*seat).receipt",
		Rule: "r := s.a[q%w]; return r, x == q && q != 0 -> r := s.a[q%w]; return r, x == q && q != 0 && s.high < q+2",
		Hits: "I2",
	},
	{
		Name: "some accepted commands are dropped",
		Func: "lockstep/coordinator.(*Coordinator).Submit",
		Rule: "c.slot(d.Tick).add(*d) -> if d.Sequence%97 != 0 { c.slot(d.Tick).add(*d) }",
		Hits: "I2",
	},
	{
		Name: "a command runs one tick later than its receipt says",
		Func: "lockstep/coordinator.(*Coordinator).Submit",
		Rule: "r{s: q, Tick: t} -> r{s: q, Tick: t - 1}",
		Hits: "I2",
	},
	{
		Name: "a command is issued for another seat",
		Func: "lockstep/host.(*Host).command",
		Rule: "h.c.Submit(p.seat, s, k, b) -> h.c.Submit(lockstep.Player(int(p.id)%len(h.seats)), s, k, b)",
		Hits: "I2 I7",
	},
	{
		Name: "map order decides when a client reconnects",
		Func: "lockstep/player.(*backoff).draw",
		Rule: "a += b -> for key := range map[uint64]bool{2: true, 5: true, 11: true, 23: true} { a += key; break }",
		Hits: "I11",
	},
}

// streams: keyframes, tails and resuming.
var streams = []Mutant{
	{
		Name: "a joiner's tail starts one record too early",
		Func: "lockstep/host.(*Host).keyframe",
		Rule: "r.Next() -> r.Next() - 1",
		Hits: "I4",
	},
	{
		Name: "a keyframe lacks the players' last sequences",
		Func: "lockstep/host.(*Host).keyframe",
		Rule: "e.AppendLast(b) -> b",
		Hits: "I1 I2 I4",
	},
	{
		Name: "an expired keyframe is reused",
		Func: "lockstep/host.(*Host).keyframe",
		Rule: "h.a.Has(k) && (r || y) -> r || y || h.stats.Keyframes > 0",
		Hits: "I9",
	},
	{
		Name: "a keyframe chunk is sent twice",
		Func: "lockstep/host.(*Host).appendSync",
		Rule: "a += n; r -= n; h.spend(p, n, t) -> a += n - n*int(h.stats.Syncs%7)/6; r -= n; h.spend(p, n, t)",
		Hits: "I9 I10",
	},
	{
		Name: "a resumed stream skips one record",
		Func: "lockstep/host.(*Host).welcome",
		Rule: "a, b, c = p, p, p -> a, b, c = p+1, p+1, p+1",
		Hits: "I4",
	},
	{
		Name: "a stream resumes at a position that the ring has overwritten",
		Func: "lockstep/host.(*ring).Has",
		Rule: "a <= p && p <= b -> p <= b",
		Hits: "I4 I10",
	},
	{
		Name: "the ring claims positions that it has overwritten",
		Func: "lockstep/host.(*ring).Append",
		Rule: "a-b < p(len(s)) -> a-b < 2*p(len(s))",
		Hits: "I4",
	},
	{
		Name: "players see records before the log has them",
		Func: "lockstep/host.New",
		Rule: "t.Tee(l, h) -> t.Tee(h, l)",
		Hits: "I3",
	},
	{
		Name: "players see records before they are synced to disk",
		Func: "replay.(*Writer).Append",
		Rule: "k.Advances() || k == record.KindEnd -> k == record.KindEnd",
		Hits: "I3",
	},
	{
		Name: "the visibility barrier ignores commits",
		Func: "lockstep/host.(*Host).visible",
		Rule: "min(e, a.b) -> max(e, a.b)",
		Hits: "I3",
	},
	{
		Name: "spectators see one record more than their delay allows",
		Func: "lockstep/host.(*Host).visible",
		Rule: "h.delayed() -> h.delayed()+1",
		Hits: "I12",
	},
	{
		Name: "delayed spectators get the players' keyframe",
		Func: "lockstep/host.(*Host).keyframeFor",
		Rule: "e := h.visible(p); if k != nil && a <= e { z } -> e := h.visible(p); if k != nil && a <= h.ring.Next() { z }",
		Hits: "I12",
	},
	{
		Name: "delayed spectators learn the current tick",
		Func: "lockstep/host.(*Host).present",
		Rule: "c.Now() - min(c.Now(), d) -> c.Now()",
		Hits: "I12",
	},
	{
		Name: "a recovered match forgets the sequences",
		Func: "lockstep/coordinator.(*Recovery).frame",
		Rule: "s.remember(r); a, b = q, t -> b = t",
		Hits: "I2",
	},
	{
		Name: "a recovered match miscounts runs of empty ticks",
		Func: "lockstep/host.(*Recovery).Append",
		Rule: "p += c(max(1, n)) -> p++",
		Hits: "I4",
	},
}

// seats: ownership of seats, and timers.
var seats = []Mutant{
	{
		Name: "a replaced connection frees the seat when it closes",
		Func: "lockstep/host.(*Host).leaveSeat",
		Rule: "if a != p { return } -> if a == nil { return }",
		Hits: "I6 I9",
	},
	{
		Name: "a leave and a join before the next tick cancel out",
		Func: "lockstep/host.(*Host).settleAll",
		Rule: "if w == t && !l { z } -> if w == t { l = false; z }",
		Hits: "I2",
		Seen: "here: corpus, left-and-joined-between-two-ticks",
	},
	{
		Name: "a replaced connection stays open",
		Func: "lockstep/host.(*Host).welcome",
		Rule: "p = nil; h.close(o, protocol.CloseReplaced, t) -> _ = o",
		Hits: "I2 I6",
	},
	{
		Name: "silent connections never time out",
		Func: "lockstep/host.(*Host).peerTime",
		Rule: "n >= e+o.IdleTimeout -> n >= e+1000*o.IdleTimeout",
		Hits: "I5",
	},
	{
		Name: "the match stops while two players are away",
		Func: "lockstep/host.(*Host).ready",
		Rule: "h.c.Now() == 0 && h.players() < n -> h.players() < len(h.seats)-1",
		Hits: "I6",
	},
	{
		Name: "unread private messages pile up",
		Func: "lockstep/host.(*Host).private",
		Rule: "len(o) > maxPrivate-roomClosing -> false",
		Hits: "I5",
	},
	{
		Name: "a protocol error also closes another connection",
		Func: "lockstep/host.(*Host).malformed",
		Rule: "h.close(p, protocol.CloseMalformed, t) -> h.close(p, protocol.CloseMalformed, t); if other := h.find(p.id - 1); other != nil { h.close(other, protocol.CloseMalformed, t) }",
		Hits: "I7",
	},
}

// checksums: comparisons and their consequences.
var checksums = []Mutant{
	{
		Name: "a corrupted referee accuses every player",
		Func: "lockstep/coordinator.(*Coordinator).compare",
		Rule: "r != k && !d && !e -> false",
		Hits: "I7 desync",
	},
	{
		Name: "a corrupted referee believes a corrupted player",
		Func: "lockstep/coordinator.(*Coordinator).resimulate",
		Rule: "t == nil || t.Hash() != s.Hash() -> t != nil",
		Hits: "I7 desync",
		Seen: "here: corpus, a-player-and-the-referee-flipped",
	},
	{
		Name: "a corrupted referee keeps its own state",
		Func: "lockstep/coordinator.(*Coordinator).replaceReferee",
		Rule: "r.Simulation().CopyFrom(s) -> nil",
		Hits: "I1 I7 desync",
	},
	{
		Name: "no checksum ever differs",
		Func: "lockstep/coordinator.(*Coordinator).compare",
		Rule: "d := r != k -> d := false",
		Hits: "desync",
	},
	{
		Name: "some correct checksums differ",
		Func: "lockstep/coordinator.(*Coordinator).compare",
		Rule: "d := r != k -> d := r != k || k%61 == 0",
		Hits: "I7 desync",
	},
	{
		Name: "a desync is reported for another player",
		Func: "lockstep/coordinator.(*Coordinator).compare",
		Rule: "c.announce(k, p, l, s, r) -> c.announce(k, 0, l, s, r)",
		Hits: "I7 desync",
	},
	{
		Name: "player 0's report becomes the agreed checksum",
		Func: "lockstep/coordinator.(*Coordinator).Report",
		Rule: "return c.compare(k, p, s) -> if p == 0 { k.Hash = s.Hash }; return c.compare(k, p, s)",
		Hits: "I7 desync",
		Seen: "OpenFront #3959: one forged hash made the honest player the wrong one",
	},
	{
		Name: "without a referee, the smallest group is right",
		Func: "lockstep/coordinator.(*Coordinator).settle",
		Rule: "g[0] -> g[len(g)-1]",
		Hits: "I7",
	},
	{
		Name: "a desync report names an agreement after its tick",
		Func: "lockstep/coordinator.(*Coordinator).compare",
		Rule: "c.standingBefore(p, t) -> c.checks.players[p]",
		Hits: "I4 I7",
		Seen: "here: corpus, agreed-after-it-differed",
	},
	{
		Name: "only one player at a time is asked for a snapshot",
		Func: "lockstep/host.(*Host).seekState",
		Rule: "m == nil || n < h.j.a -> m == nil || n < h.j.a || len(h.inquiries) > 0",
		Hits: "I6 I9",
		Seen: "here: corpus, states-that-nobody-sends",
	},
	{
		Name: "a desynced player is not resynced",
		Func: "lockstep/host.(*Host).react",
		Rule: "h.startSync(p, r) ->",
		Hits: "I9",
	},
}
