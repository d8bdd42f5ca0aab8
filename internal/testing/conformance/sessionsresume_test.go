package conformance

// seatSessions are about sessions and seats.
func seatSessions() []Built {
	return transcriptCases([]scenario{
		{id: "resume", rules: "P-resume P-session P-command-again P-welcome-position", about: "A lost connection resumes with its session, and the stream goes on without a gap.",
			run: func(p *play) {
				g := p.join(auth{token: ada})
				p.wait(700)
				g.add(7)
				g.cut()
				p.wait(1200)
				p.resume(g)
				g.say(33, g.sequence, kindAdd, addPayload(7)) // had no answer
				p.wait(600)
			}},
		{id: "resume-none-missed", rules: "P-resume P-back", about: "A client that has all records resumes at the next to come.",
			run: func(p *play) {
				p.join(auth{token: bob})
				g := p.join(auth{token: ada})
				p.wait(550)
				g.cut()
				p.resume(g)
				p.wait(300)
			}},
		{id: "roster", rules: "P-roster P-sync", about: "A late joiner is told who has the seats, and what was said before.",
			run: func(p *play) {
				g := p.join(auth{token: ada})
				g.say(38, "is anybody here?")
				p.wait(5500)
				p.join(auth{token: bob})
				p.wait(200)
			}},
		{id: "resume-old", rules: "P-resume-old P-welcome-position", about: "A position that the ring does not have any more gets a state_sync.",
			setup: func(t *Transcript) { t.Host.RingRecords = 16 },
			run: func(p *play) {
				p.join(auth{token: bob})
				g := p.join(auth{token: ada})
				p.wait(700)
				g.cut()
				p.wait(3000)
				p.resume(g)
				p.wait(500)
			}},
		{id: "resume-zero", rules: "P-resume-old", about: "Position 0 asks for a state_sync.",
			run: func(p *play) {
				g := p.join(auth{token: ada})
				p.wait(500)
				g.cut()
				p.wait(200)
				p.again(g, auth{session: g.session})
				p.wait(500)
			}},
		{id: "resume-future", rules: "P-resume-old", about: "A position beyond the stream gets a state_sync.",
			run: func(p *play) {
				g := p.join(auth{token: ada})
				p.wait(500)
				g.cut()
				p.again(g, auth{session: g.session, position: 1 << 40})
				p.wait(500)
			}},
		{id: "session-once", rules: "P-session-once P-token", about: "A session is good once; with the token behind it the seat is taken again.",
			run: func(p *play) {
				g := p.join(auth{token: ada})
				p.wait(300)
				first := g.session
				g.cut()
				p.resume(g)
				p.wait(300)
				g.cut()
				p.again(g, auth{session: first, position: g.position})
				p.wait(200)
				p.again(g, auth{session: first, token: ada, position: g.position})
				p.wait(300)
			}},
		{id: "session-lost-welcome", rules: "P-session-lost P-resume", about: "A client that never got the welcome comes back with the session before it.",
			run: func(p *play) {
				g := p.join(auth{token: ada})
				p.wait(300)
				first, position := g.session, g.position
				g.cut()
				p.wait(100)
				g.lost = true
				p.again(g, auth{session: first, position: position})
				g.cut()
				g.lost = false
				p.wait(100)
				p.again(g, auth{session: first, position: position})
				p.wait(300)
			}},
		{id: "replaced", rules: "P-replaced P-replaced-seat", about: "A second connection takes the seat; what the first still sends is not read.",
			run: func(p *play) {
				g := p.join(auth{token: ada})
				p.wait(300)
				p.join(auth{token: ada})
				p.wait(100)
				g.say(38, "too late")
				p.wait(200)
			}},
		{id: "session-subject", rules: "P-session-subject P-replaced P-replaced-seat P-token", about: "A guest loses its seat to the holder of the seat's token, whose welcome is lost: the guest's session has ended.",
			setup: func(t *Transcript) {
				t.Tokens = append(t.Tokens, Token{"token-of-seat-000", "player", new(uint8), "Sol"})
			},
			run: func(p *play) {
				g := p.join(auth{token: guestAnn})
				p.wait(300)
				p.again(&guest{p: p, lost: true}, auth{token: "token-of-seat-000"})
				p.wait(100)
				p.resume(g)
				p.wait(100)
			}},
		{id: "spectator-returns", rules: "P-token P-session P-welcome-position", about: "A spectator has no session: it comes back with its token, and gets a state_sync, whatever position it names.",
			run: func(p *play) {
				p.join(auth{token: ada})
				g := p.join(auth{token: eve})
				p.wait(500)
				g.cut()
				p.wait(200)
				p.again(g, auth{token: eve, position: g.position})
				p.wait(300)
			}},
		{id: "admin", rules: "P-token", about: "An admin has a seat, and may do what players may.",
			setup: func(t *Transcript) { t.Tokens = append(t.Tokens, Token{"token-of-root-000", "admin", nil, "Root"}) },
			run: func(p *play) {
				g := p.join(auth{token: "token-of-root-000"})
				p.wait(300)
				g.add(2)
				p.wait(300)
			}},
		{id: "outrun", rules: "P-outrun P-replaced", about: "An auth that comes after that of a later connection does not take the seat.",
			run: func(p *play) {
				slow := p.open()
				p.wait(100)
				p.join(auth{token: ada})
				p.wait(100)
				slow.raw(auth{token: ada}.message())
				p.wait(300)
			}},
		{id: "grace", rules: "P-session P-system P-due", about: "After the grace time the player is taken over; the session is gone, and the token still takes the seat.",
			setup: func(t *Transcript) { t.Host.GraceMS = 1000 },
			run: func(p *play) {
				p.join(auth{token: bob})
				g := p.join(auth{token: ada})
				p.wait(300)
				g.cut()
				p.wait(1500)
				p.resume(g)
				p.wait(100)
				p.again(g, auth{token: ada})
				p.wait(500)
			}},
		{id: "substitute", rules: "P-substitute P-session", about: "A substitute plays for a player who is taken over. The player is given the next sequence, and the substitute's are stale.",
			setup: func(t *Transcript) { t.Host.GraceMS, t.Host.Substitute = 500, true },
			run: func(p *play) {
				p.join(auth{token: bob})
				g := p.join(auth{token: ada})
				p.wait(300)
				g.add(5)
				g.cut()
				p.wait(1000)
				p.again(g, auth{token: ada})
				p.wait(300)
				g.say(33, 2, kindAdd, addPayload(9))
				g.say(33, 1, kindAdd, addPayload(9))
				g.say(33, 100, kindAdd, addPayload(9))
				p.wait(500)
			}},
		{id: "inactive", rules: "P-inactive", about: "A player who gives no command for a second is warned, gets closing inactive and is taken over; the token still takes the seat.",
			setup: func(t *Transcript) { t.Host.InactiveMS = 1000 },
			run: func(p *play) {
				g := p.join(auth{token: ada})
				p.wait(700)
				g.add(5)
				p.wait(1500)
				p.again(g, auth{token: ada})
				p.wait(500)
			}},
		{id: "grace-leave", rules: "P-system P-leave P-due", about: "Where the seat is given up after the grace time, the player has left.",
			setup: func(t *Transcript) { t.Host.GraceMS, t.Host.LeaveAfterGrace = 1000, true },
			run: func(p *play) {
				p.join(auth{token: bob})
				g := p.join(auth{token: ada})
				p.wait(300)
				g.cut()
				p.wait(1500)
			}},
		{id: "leave", rules: "P-leave P-system", about: "Leave gives up the seat; its session is good no more, and the token takes it again.",
			run: func(p *play) {
				p.join(auth{token: bob})
				g := p.join(auth{token: ada})
				p.wait(300)
				g.add(1)
				g.say(39, "good night")
				p.deliver()
				p.wait(300)
				p.resume(g)
				p.again(g, auth{token: ada})
				p.wait(300)
			}},
		{id: "seat-changes-hands", rules: "P-leave P-system P-back P-token-guest", about: "A guest leaves and another one takes the seat before the next tick: the log says that one left, and then that one joined.",
			setup: func(t *Transcript) { t.Tokens, t.Match.Players = nil, 1 },
			run: func(p *play) {
				g := p.join(auth{token: guestAnn})
				p.wait(450)
				g.say(39, "good night")
				p.deliver()
				p.join(auth{token: "guest:Bob:fedcba9876543210"})
				p.wait(500)
			}},
		{id: "recovery", rules: "P-recovery P-recovery-sequence P-sync-back P-session-unknown", about: "After a crash that took ticks back, the client gets a lower position, and its forgotten command is sent again.",
			run: func(p *play) {
				g := p.join(auth{token: ada})
				p.wait(1000)
				g.add(1)
				p.wait(500)
				keep := len(p.records)
				g.add(2)
				g.add(4)
				p.wait(700)
				p.operator("crash", int64(keep), "")
				p.wait(300)
				p.again(g, auth{session: g.session, token: ada, position: g.position})
				g.say(33, 2, kindAdd, addPayload(2))
				g.say(33, 3, kindAdd, addPayload(4))
				p.wait(700)
			}},
	})
}
