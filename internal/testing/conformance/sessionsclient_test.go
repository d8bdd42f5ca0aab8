package conformance

// clientSessions are played with a Client and a Host: they check both.
func clientSessions() []Built {
	return transcriptCases([]scenario{
		{id: "client-play", client: true, rules: "P-auth-first P-ack P-check P-command P-ping P-leave", about: "A client joins, plays for three seconds, chats and leaves.",
			run: func(p *play) {
				p.wait(1000)
				p.player("add", 5, "")
				p.player("say", 0, "hello")
				p.wait(500)
				p.player("chat", 0, "good game")
				p.wait(1500)
				p.player("leave", 0, "dinner is ready")
				p.wait(200)
			}},
		{id: "client-lobby", client: true, rules: "P-ready P-held", about: "A client is ready, loses its connection, and says so again; then the match begins.",
			setup: func(t *Transcript) { t.Host.StartReady, t.Host.StartCountdownMS = true, 500 },
			run: func(p *play) {
				p.wait(200)
				p.player("ready", 1, "")
				p.wait(100)
				p.lose()
				p.wait(1000)
				p.player("ready", 0, "")
				p.wait(200)
				p.player("ready", 1, "")
				p.wait(200)
				p.join(auth{token: bob}).say(42, true)
				p.wait(1500)
			}},
		{id: "client-resume", client: true, rules: "P-resume P-command-again", about: "A client loses its connection with a command under way, resumes, and sends the command again.",
			run: func(p *play) {
				p.wait(1000)
				p.lose()
				p.player("add", 5, "")
				p.wait(1500)
			}},
		{id: "client-resume-old", client: true, rules: "P-resume-old P-sync-any", about: "A client comes back too late for the ring.",
			setup: func(t *Transcript) { t.Host.RingRecords = 16 },
			run: func(p *play) {
				p.wait(1000)
				p.lose()
				p.operator("speed", 1000, "")
				p.wait(2000)
			}},
		{id: "client-desync", client: true, rules: "P-desync P-sync-any P-state", about: "A client whose state is corrupt reports it, answers for it, and is healed.",
			setup: func(t *Transcript) { t.Host.Evidence = true },
			run: func(p *play) {
				p.wait(1250)
				p.player("corrupt", 0, "Coins[1]")
				p.wait(1500)
			}},
		{id: "client-resimulate", client: true, rules: "P-resimulate P-resimulated P-capabilities", about: "A client with resimulate whose state is corrupt computes the ticks again when it is asked, and is right.",
			setup: func(t *Transcript) { t.Host.Evidence, t.Client.Resimulates = true, true },
			run: func(p *play) {
				p.wait(1250)
				p.player("corrupt", 0, "Coins[1]")
				p.wait(2500)
			}},
		{id: "client-pause", client: true, rules: "P-system P-ack", about: "A client in a match that is paused, goes on, and changes its speed and input delay.",
			run: func(p *play) {
				p.wait(1000)
				p.operator("pause", 0, "")
				p.wait(2500)
				p.operator("resume", 0, "")
				p.operator("input_delay", 4, "")
				p.operator("speed", 200, "")
				p.wait(500)
				p.player("add", 1, "")
				p.wait(700)
			}},
		{id: "client-recovery", client: true, rules: "P-recovery P-recovery-sequence P-session-unknown", about: "After a crash that took ticks back a client comes again with its token, and sends the forgotten command again.",
			run: func(p *play) {
				p.wait(1000)
				p.player("add", 1, "")
				p.wait(500)
				keep := len(p.records)
				p.player("add", 2, "")
				p.wait(600)
				p.player("add", 4, "")
				p.operator("crash", int64(keep), "")
				p.wait(2000)
			}},
		{id: "client-replaced", client: true, rules: "P-replaced P-closing", about: "A client whose seat is taken by another connection does not come back.",
			run: func(p *play) {
				p.wait(1000)
				p.join(auth{token: ada})
				p.wait(1000)
			}},
		{id: "client-end", client: true, rules: "P-end P-closing", about: "A client is there when the match ends.",
			run: func(p *play) {
				p.wait(1000)
				p.operator("end", 0, "enough")
				p.wait(500)
			}},
		{id: "client-shutdown", client: true, rules: "P-shutdown P-closing", about: "A client that was told to come back after 1.5 s waits that long.",
			run: func(p *play) {
				p.wait(1000)
				p.operator("shutdown", 1500, "")
				p.wait(2000)
			}},
		{id: "client-rejected", client: true, rules: "P-command-reason", about: "A client gives a command that the game refuses, and one that it does not.",
			run: func(p *play) {
				p.wait(1000)
				p.player("add", 0, "")
				p.player("add", 3, "")
				p.wait(500)
			}},
		{id: "client-refused", client: true, rules: "P-token P-closing", about: "A client whose token is not known gives up.",
			setup: func(t *Transcript) { t.Tokens = t.Tokens[1:] },
			run:   func(p *play) { p.wait(2000) }},
	})
}
