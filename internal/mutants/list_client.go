package mutants

// clients: what a client makes of the stream.
var clients = []Mutant{
	{
		Name: "commands that were not answered are not sent again",
		File: "lockstep/client.go",
		Old:  "\tc.own.unsent()\n",
		New:  "",
		Hits: "I9",
	},
	{
		Name: "a command is sent again under a new number",
		File: "lockstep/outstanding.go",
		Old:  "\t\to.list[i].sent = false\n",
		New:  "\t\to.list[i].sent = false\n\t\to.list[i].sequence = o.next\n\t\to.next++\n",
		Hits: "I2",
	},
	{
		Name: "the prediction is the state",
		File: "lockstep/prediction.go",
		Old:  "return p.sim.CopyFrom(confirmed)",
		New:  "p.sim = confirmed\n\treturn nil",
		Hits: "I1",
	},
	{
		Name: "a checksum of the tick before",
		File: "lockstep/clientsend.go",
		Old:  "*m = Message{Kind: MessageChecksum, Tick: t, Root: sum.Root,",
		New:  "*m = Message{Kind: MessageChecksum, Tick: t, Root: sum.Root + uint64(t%7/6),",
		Hits: "I7 desync",
	},
	{
		Name: "records of the old stream are counted in the new one",
		File: "lockstep/clientsync.go",
		Old:  "c.in.streaming, c.in.dropping, c.in.position = true, false, a.position",
		New:  "c.in.streaming, c.in.dropping, c.in.position = true, false, max(c.in.position, a.position)",
		Hits: "I4 I9",
	},
	{
		Name: "ticks without commands are passed over",
		File: "lockstep/clientrun.go",
		Old:  "\t\t\tr.empty--\n\t\t\tn--\n",
		New:  "\t\t\tr.empty--\n\t\t\tn--\n\t\t\tif c.Tick()%97 == 96 {\n\t\t\t\tcontinue\n\t\t\t}\n",
		Hits: "I1 I9 I10",
	},
	{
		Name: "a client gives up at the first failure",
		File: "lockstep/ladder.go",
		Old:  "if c.attempt >= l.Attempts || ",
		New:  "if c.attempt >= 1 || ",
		Hits: "I9",
	},
}

// files: the log on the disk.
var files = []Mutant{
	{
		Name: "a failed write is no failure",
		File: "replay/writer.go",
		Old:  "\tw.waiting = nil\n\tif err != nil {\n\t\treturn w.fail(err)\n\t}\n",
		New:  "\tw.waiting = nil\n",
		Hits: "I3 I8",
	},
	{
		Name: "a block's check is not looked at",
		File: "replay/reader.go",
		Old:  "check != want {",
		New:  "check != want && size == 0 {",
		Hits: "I8 I10",
	},
	{
		Name: "runs of empty ticks are one too short",
		File: "lockstep/emptyrun.go",
		Old:  "\te.ticks += n\n\treturn n, true",
		New:  "\tif e.ticks += n; e.ticks == 5 {\n\t\te.ticks--\n\t}\n\treturn n, true",
		Hits: "I3 I8",
	},
}

// museum: mistakes of ours, that the simulator found before anybody else did.
var museum = []Mutant{
	{
		Name: "who resumes a paused match says nothing, and is closed as too slow",
		File: "lockstep/clientreceive.go",
		Old:  "\t\tc.out.arrived, c.out.adopted = true, true // acknowledged even if nothing follows, as in a paused match\n",
		New:  "",
		Hits: "I9",
		Seen: "here: corpus, resumed-while-paused",
	},
	{
		Name: "a client catches up with a tick that a crash took back",
		File: "lockstep/clientreceive.go",
		Old:  "c.serverTick = w.Tick // less than before if a crash took ticks back",
		New:  "c.serverTick = max(c.serverTick, w.Tick)",
		Hits: "I9",
		Seen: "here: corpus, catching-up-with-a-tick-taken-back",
	},
	{
		Name: "a checksum is reported of a tick that a crash took back",
		File: "lockstep/clientsend.go",
		Old:  " || c.in.from() == 0 {\n\t\treturn dst // a state is on its way",
		New:  " {\n\t\treturn dst // a state is on its way",
		Hits: "I7",
		Seen: "here: corpus, report-of-a-tick-taken-back",
	},
	{
		Name: "a client keeps an answer that a crash forgot",
		File: "lockstep/outstanding.go",
		Old:  "\t\t\ts.answered, s.run = false, false\n",
		New:  "\t\t\ts.run = false\n",
		Hits: "I2 I9",
		Seen: "here: corpus, answer-that-a-crash-forgot",
	},
	{
		Name: "a paused match is paused again, and the next resume is not enough",
		File: "lockstep/roster.go",
		Old:  "\tif c.err == nil && c.paused {\n",
		New:  "\tif false {\n",
		Hits: "I6",
		Seen: "here: corpus, paused-twice",
	},
	{
		Name: "a tick that ends in a pause is not shown before the next",
		File: "lockstep/pacing.go",
		Old:  "p.waiting && !p.held && late < 0",
		New:  "p.waiting && late < 0",
		Hits: "I9",
		Seen: "here: corpus, ended-in-a-pause-after-a-pause",
	},
	{
		Name: "delayed spectators see the rest of a match whose log has failed, and which goes on",
		File: "lockstep/hostcurtain.go",
		Old:  "h.options.SpectatorDelay > 0 && !h.ended() {",
		New:  "h.options.SpectatorDelay > 0 && !h.over {",
		Hits: "I12",
		Seen: "here: corpus, a-failed-log-behind-the-curtain",
	},
	{
		Name: "checksums of long-delayed spectators are not compared any more",
		File: "lockstep/hostdesync.go",
		Old:  "\tk := h.checkSeen(t)\n",
		New:  "\tk := h.c.checkOf(t)\n",
		Hits: "I9",
		Seen: "here: corpus, wrong-long-behind-the-curtain",
	},
	{
		Name: "who differs is removed from one connection, and comes back over another",
		File: "lockstep/hostdesync.go",
		Old:  "if h.options.Desync != LogDesynced && standing.differs",
		New:  "if h.options.Desync == ResyncDesynced && standing.differs",
		Hits: "I9",
		Seen: "here: corpus, removed-and-back",
	},
	{
		Name: "an auth that was long on its way takes the seat from the player's next connection",
		File: "lockstep/hostauth.go",
		Old:  "if owner == nil || owner.id < p.id {",
		New:  "if owner == nil || p.id > 0 {",
		Hits: "I9",
		Seen: "here: corpus, auth-long-on-its-way",
	},
	{
		Name: "a referee that was wrong once believes itself from then on",
		File: "lockstep/retrial.go",
		Old:  "c.retried = c.sealed - c.sealed%Tick(c.header.Settings.CheckEvery)",
		New:  "c.retried = c.sealed",
		Hits: "I7 desync",
		Seen: "here: corpus, the-referee-flipped-twice",
	},
	{
		Name: "without a referee, who differs and comes back stays, as the verdict comes after its report",
		File: "lockstep/hostreceive.go",
		Old:  "for i := range h.seats { // the verdict may",
		New:  "for i := range h.seats[:0] { // the verdict may",
		Hits: "I9",
		Seen: "here: corpus, removed-without-a-referee-and-back",
	},
}
