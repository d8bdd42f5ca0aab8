package conformance

// viewSessions are about clients that get views.
func viewSessions() []Built {
	views := func(t *Transcript) { t.Host.Views = "asked" }
	only := func(t *Transcript) { t.Host.Views = "only" }
	sees := array{"views"}
	view := func(p *play, token string) *guest {
		g := p.open()
		g.viewer = true
		g.raw(auth{token: token, build: "another", state: fingerprint(sightSchema), can: sees, sums: array{0, 0, 0, 0, 0}}.message())
		p.deliver()
		return g
	}
	return transcriptCases([]scenario{
		{id: "view", setup: views, rules: "P-viewer P-view-start P-view-records P-view-sync P-view-delta P-view-ack P-view-commands",
			about: "A viewer of another build gets views of its own coins beside a player who gets the stream. It gives commands, and gets notes and the end.",
			run: func(p *play) {
				g := view(p, ada)
				p.join(auth{token: bob, build: "views"})
				p.wait(500)
				g.add(7)
				p.wait(300)
				g.add(0)
				g.say(38, "hello")
				p.wait(300)
				p.operator("end", 0, "enough")
				p.wait(300)
			}},
		{id: "view-quiet", setup: views, rules: "P-view-quiet P-view-ack", about: "While nothing changes a viewer is told so every five ticks. After state_sync_request the views begin anew.",
			run: func(p *play) {
				g := view(p, ada)
				p.wait(2250)
				g.say(36)
				p.wait(500)
			}},
		{id: "view-window", setup: views, rules: "P-view-window", about: "A viewer that acknowledges nothing gets eight views, and no more before an acknowledgement.",
			run: func(p *play) {
				g := view(p, ada)
				g.mute = true
				p.wait(1500)
				g.mute = false
				g.say(45, 2, 1)
				p.wait(500)
			}},
		{id: "view-spectator", setup: views, rules: "P-viewer P-view-sync", about: "A spectator sees as a spectator does; its state schema may be 0.",
			run: func(p *play) {
				g := p.open()
				g.viewer = true
				g.raw(recordBytes(32, 1, "", "conform", "", 0, 0, array{0, 0, 0, 0, 0}, "conformance", eve, noSession, 0, sees))
				p.deliver()
				p.wait(300)
			}},
		{id: "view-none", rules: "P-viewer", about: "The game has no views.", run: func(p *play) { view(p, ada); p.wait(200) }},
		{id: "view-delayed", rules: "P-viewer", about: "Spectators who are delayed get no views.",
			setup: func(t *Transcript) { t.Host.Views, t.Host.SpectatorDelayTicks = "asked", 5 },
			run:   func(p *play) { view(p, eve); p.wait(200) }},
		{id: "view-schema", setup: views, rules: "P-viewer", about: "The schema of the state is not that of the view.",
			run: func(p *play) {
				p.join(auth{token: ada, can: sees})
				p.wait(200)
			}},
		{id: "view-only", setup: only, rules: "P-viewer", about: "Where a match is sent as views only, a client that does not ask for them is told so, and comes again.",
			run: func(p *play) {
				p.join(auth{token: ada, build: "views"})
				p.wait(100)
				view(p, ada)
				p.wait(300)
			}},
		{id: "view-ack-wrong", setup: views, rules: "P-view-ack P-malformed", about: "An acknowledgement of a view that was not sent.",
			run: func(p *play) { g := view(p, ada); p.wait(300); g.say(45, 99, 1); p.wait(200) }},
		{id: "view-ack-tick", setup: views, rules: "P-view-ack P-malformed", about: "An acknowledgement with a tick that was not sent.",
			run: func(p *play) { g := view(p, ada); p.wait(300); g.say(45, 1, 99); p.wait(200) }},
		{id: "view-checksum", setup: views, rules: "P-view-commands P-malformed", about: "A viewer has no checksums.",
			run: func(p *play) { g := view(p, ada); p.wait(600); g.say(34, 5, 1, array{}); p.wait(200) }},
		{id: "view-panicked", setup: views, rules: "P-view-commands P-malformed", about: "A viewer simulates nothing that could panic.",
			run: func(p *play) { g := view(p, ada); p.wait(300); g.say(46, 1, "Step", "no", ""); p.wait(200) }},
	})
}

// sightSchema is the schema of the view.
var sightSchema = describe(node{tStruct, 0, 2, ""}, node{tUint32, 0, 0, "Ticks"}, node{tInt32, 0, 0, "Coins"})
