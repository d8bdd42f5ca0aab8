package conformance

import "github.com/seed-49bee653/samestep/lockstep"

// checkSessions are about checksums and what follows from them.
func checkSessions() []Built {
	relay := func(t *Transcript) { t.Host.Relay, t.Match.KeyframeEvery = true, 0 }
	return transcriptCases([]scenario{
		{id: "check-wrong", rules: "P-check-wrong P-check-again", about: "Reports on tick 0, between two checked ticks, of the future and of long ago are not compared; a second one is passed over.",
			setup: func(t *Transcript) { t.Match.CheckEvery = 1 },
			run: func(p *play) {
				g := p.join(auth{token: ada})
				p.wait(4000)
				for _, tick := range []int{0, 1000, 3} {
					g.say(34, tick, 1, array{})
				}
				g.report(38)
				p.wait(200)
			}},
		{id: "check-between", rules: "P-check-wrong", about: "A report on a tick that is not a checked one is refused.",
			run: func(p *play) {
				g := p.join(auth{token: ada})
				p.wait(800)
				g.say(34, 7, 1, array{})
				p.wait(200)
			}},
		{id: "desync", rules: "P-desync P-sync-any", about: "A checksum that differs is logged and reported, and by default heals with a state_sync.",
			run: func(p *play) {
				g := p.join(auth{token: ada})
				p.wait(750)
				g.lies = true
				p.wait(300)
				g.lies = false
				p.wait(800)
			}},
		{id: "desync-evidence", rules: "P-desync P-state P-state-unasked", about: "Where evidence is wanted the server asks for the states of two ticks first; a state that nobody asked for has no answer.",
			setup: func(t *Transcript) { t.Host.Evidence = true },
			run: func(p *play) {
				g := p.join(auth{token: ada})
				p.wait(750)
				p.lie(g, 10)
				p.wait(800)
				g.answer(5)
				p.wait(200)
			}},
		{id: "desync-resimulate", rules: "P-resimulate P-resimulated P-phases P-capabilities P-resimulated-unasked", about: "A client with resimulate is asked to compute the ticks again, twice, and for the first state that is wrong; a checksum and phases that come too late have no effect.",
			setup: func(t *Transcript) { t.Host.Evidence = true },
			run: func(p *play) {
				g := p.join(auth{token: ada, can: array{"resimulate"}})
				p.wait(750)
				for g.tick < 9 && p.err == nil {
					p.wait(50)
				}
				g.wrongState(8)
				p.lie(g, 10)
				p.wait(800)
				g.say(43, 9, 0, 1, array{})
				g.say(44, 8, array{"add"}, array{1})
				p.wait(200)
			}},
		{id: "desync-resimulate-not", rules: "P-resimulated", about: "A client with resimulate that cannot compute the ticks again says so.",
			setup: func(t *Transcript) { t.Host.Evidence = true },
			run: func(p *play) {
				g := p.join(auth{token: ada, can: array{"resimulate"}})
				p.wait(750)
				g.forgets = true
				p.lie(g, 10)
				p.wait(800)
			}},
		{id: "resimulated-order", rules: "P-resimulated P-malformed", about: "A tick computed again that is not the next one is malformed.",
			setup: func(t *Transcript) { t.Host.Evidence = true },
			run: func(p *play) {
				g := p.join(auth{token: ada, can: array{"resimulate"}})
				p.wait(750)
				g.quiet = true
				p.lie(g, 10)
				p.wait(100)
				g.say(43, 7, 0, 1, array{})
				p.wait(200)
			}},
		{id: "resimulated-unasked", rules: "P-resimulated-unasked", about: "A tick computed again that nobody asked for has no answer.",
			run: func(p *play) {
				g := p.join(auth{token: ada, can: array{"resimulate"}})
				p.wait(500)
				g.say(43, 1, 0, 1, array{})
				p.wait(200)
			}},
		{id: "phases-unasked", rules: "P-phases P-resimulated-unasked", about: "Phases that nobody asked for have no answer.",
			run: func(p *play) {
				g := p.join(auth{token: ada, can: array{"resimulate"}})
				p.wait(500)
				g.say(44, 1, array{"add"}, array{1})
				p.wait(200)
			}},
		{id: "desync-flight", rules: "P-flight P-capabilities P-flight-unasked", about: "A client with flight is asked for the record of its last ticks, once; one that comes again has no answer.",
			setup: func(t *Transcript) { t.Host.Evidence = true },
			run: func(p *play) {
				g := p.join(auth{token: ada, can: array{"flight"}})
				p.wait(750)
				p.lie(g, 10)
				p.wait(800)
				g.say(47, 10, 0, 1, []byte{1})
				p.wait(200)
			}},
		{id: "flight-order", rules: "P-flight P-malformed", about: "A chunk of a record out of order is malformed.",
			setup: func(t *Transcript) { t.Host.Evidence = true },
			run: func(p *play) {
				g := p.join(auth{token: ada, can: array{"flight"}})
				p.wait(750)
				g.quiet = true
				p.lie(g, 10)
				p.wait(100)
				g.say(47, 10, 1, 2, []byte{1})
				p.wait(200)
			}},
		{id: "desync-log", rules: "P-desync", about: "With the policy log there is a report, and nothing else.",
			setup: func(t *Transcript) { t.Host.Desync = "log" },
			run: func(p *play) {
				g := p.join(auth{token: ada})
				p.wait(750)
				g.lies = true
				p.wait(1000)
			}},
		{id: "desync-remove", rules: "P-desync", about: "With the policy remove the player is kicked once its states have come.",
			setup: func(t *Transcript) { t.Host.Desync, t.Host.Evidence = "remove", true },
			run: func(p *play) {
				g := p.join(auth{token: ada})
				p.wait(750)
				p.lie(g, 10)
				p.wait(800)
			}},
		{id: "desync-again", rules: "P-limit-resyncs P-desync", about: "A player that keeps differing gets two keyframes a minute, and no more.",
			run: func(p *play) {
				g := p.join(auth{token: ada})
				g.lies = true
				p.wait(4000)
			}},
		{id: "check-spectator", rules: "P-check-spectator", about: "A spectator whose checksum differs is told, and nothing is logged.",
			run: func(p *play) {
				p.join(auth{token: ada})
				g := p.join(auth{token: eve})
				g.lies = true
				p.wait(700)
				g.lies = false
				p.wait(800)
			}},
		{id: "tie", rules: "P-tie", about: "Without a referee two reports that differ are a tie: both are logged, and nobody is blamed.",
			setup: relay,
			run: func(p *play) {
				p.join(auth{token: ada})
				g := p.join(auth{token: bob})
				g.lies = true
				p.wait(1200)
			}},
		{id: "relay", rules: "P-tie P-desync", about: "Without a referee the majority of three is right.",
			setup: func(t *Transcript) {
				relay(t)
				t.Match.Players = 3
				t.Tokens = nil
			},
			run: func(p *play) {
				p.join(auth{token: guestAnn})
				g := p.join(auth{token: "guest:Bob:fedcba9876543210"})
				p.join(auth{token: "guest:Cid:00112233445566778899"})
				p.wait(700)
				g.lies = true
				p.wait(400)
				g.lies = false
				p.wait(600)
			}},
		{id: "relay-join", rules: "P-relay-join P-state", about: "Without a referee a late joiner's state comes from a player.",
			setup: func(t *Transcript) { relay(t); t.Host.RingRecords = 16 },
			run: func(p *play) {
				p.join(auth{token: ada})
				p.wait(3000)
				p.join(auth{token: eve})
				p.wait(1500)
			}},
	})
}

// lie makes a guest compute a wrong state from a tick on, until it has been
// reported, and answer for it.
func (p *play) lie(g *guest, t lockstep.Tick) {
	g.silent = true
	for g.tick < t && p.err == nil {
		p.wait(50)
	}
	sum := g.wrongState(t)
	sections := array{}
	for _, s := range sum.Sections {
		sections = append(sections, s)
	}
	g.say(34, uint64(t), sum.Hash, sections)
	g.silent = false
}
