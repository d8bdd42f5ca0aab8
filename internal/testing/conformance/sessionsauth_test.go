package conformance

import (
	"strings"
)

// refusedAuth is a scenario of one auth that is not welcomed.
func refusedAuth(id, rules, about string, a auth) scenario {
	return scenario{id: id, rules: rules, about: about, run: func(p *play) {
		p.wait(250)
		p.join(a)
		p.wait(250)
	}}
}

// identitySessions show which clients a server refuses by their auth.
func identitySessions() []Built {
	sums := func(i int) array {
		a := append(array{}, selfTests...)
		a[i] = uint64(1)
		return a
	}
	return transcriptCases([]scenario{
		{id: "capabilities-unknown", rules: "P-capabilities", about: "A server passes over capabilities that it does not know.",
			run: func(p *play) { p.join(auth{token: ada, can: array{"fly", "resimulate", "swim"}}) }},
		refusedAuth("identity-protocol", "P-identity", "Another protocol is refused by name.", auth{token: ada, protocol: 2}),
		refusedAuth("identity-engine", "P-identity", "Another engine is refused.", auth{token: ada, engine: "samestep/2"}),
		refusedAuth("identity-game", "P-identity", "Another game is refused.", auth{token: ada, game: "chess"}),
		refusedAuth("identity-build", "P-identity", "Another build of the game is refused.", auth{token: ada, build: "2"}),
		refusedAuth("identity-state", "P-identity", "Another schema of the state is refused.", auth{token: ada, state: 1}),
		refusedAuth("identity-commands", "P-identity", "Other commands are refused.", auth{token: ada, commands: 1}),
		refusedAuth("identity-first", "P-identity", "Of several differences the first is named, and the token is not looked at.", auth{token: "nobody's", build: "2", game: "chess"}),
		refusedAuth("self-test-integers", "P-self-test", "A machine whose integers differ is refused.", auth{token: ada, sums: sums(0)}),
		refusedAuth("self-test-records", "P-self-test", "A machine whose records differ is refused.", auth{token: ada, sums: sums(3)}),
		refusedAuth("self-test-game", "P-self-test", "A machine on which the game computes otherwise is refused.", auth{token: ada, sums: sums(4)}),
		refusedAuth("token-unknown", "P-token", "An unknown token is refused, and no more is said.", auth{token: "token-of-nobody-0"}),
		refusedAuth("token-empty", "P-token-empty", "An empty token is refused where nobody may watch without one.", auth{}),
		refusedAuth("session-unknown", "P-session-unknown P-token", "An unknown session without a token is refused.", auth{session: sessionOne, position: 3}),
		refusedAuth("token-guest-short", "P-token-guest", "A guest whose secret has 15 bytes is refused.", auth{token: "guest:Ann:0123456789abcde"}),
		refusedAuth("token-guest-name", "P-token-guest", "A guest without a name is refused.", auth{token: "guest::0123456789abcdef"}),
		refusedAuth("token-guest-control", "P-token-guest", "A guest whose name has a line break is refused.", auth{token: "guest:A%0A:0123456789abcdef"}),
		{id: "token-empty-watch", rules: "P-token-empty P-session-form", about: "An empty token makes a spectator where anybody may watch.",
			setup: func(t *Transcript) { t.Host.AnonymousSpectators = true },
			run:   func(p *play) { p.join(auth{}); p.wait(1000) }},
		{id: "token-guest", rules: "P-token-guest P-full", about: "Guests take the free seats, one comes back to the same seat, also under another name, and a third finds none.",
			setup: func(t *Transcript) { t.Tokens = nil },
			run: func(p *play) {
				a := p.join(auth{token: guestAnn})
				p.join(auth{token: "guest:Bob:fedcba9876543210:and-more"})
				p.wait(500)
				a.cut()
				p.wait(500)
				p.again(a, auth{token: guestAnn})
				p.join(auth{token: "guest:Cid:00112233445566778899"})
				p.wait(500)
				a.cut()
				p.wait(500)
				p.again(a, auth{token: "guest:Eve:0123456789abcdef"})
				p.wait(500)
			}},
		{id: "full-spectators", rules: "P-full", about: "A second spectator finds no place.",
			setup: func(t *Transcript) { t.Host.MaxSpectators = 1 },
			run: func(p *play) {
				p.join(auth{token: eve})
				p.join(auth{token: eve})
				p.wait(300)
			}},
	})
}

// greetingSessions are about the beginning of a connection.
func greetingSessions() []Built {
	return transcriptCases([]scenario{
		{id: "auth", rules: "P-auth-first P-sync P-stream P-ack P-check P-ping P-private", about: "A player joins, follows the match, and leaves.",
			run: func(p *play) {
				g := p.join(auth{token: ada})
				p.wait(6000)
				g.say(39, "")
				p.wait(300)
			}},
		{id: "auth-not-first", rules: "P-auth-first P-malformed", about: "A ping before auth is malformed.",
			run: func(p *play) { p.open().say(37, 1); p.wait(100) }},
		{id: "auth-twice", rules: "P-auth-once P-malformed", about: "A second auth is malformed; the seat is lost, not left.",
			run: func(p *play) {
				g := p.join(auth{token: ada})
				p.wait(300)
				g.raw(auth{token: ada}.message())
				p.wait(300)
			}},
		{id: "auth-late", rules: "P-auth-timeout", about: "A connection that says nothing is closed after 10 s.",
			setup: func(t *Transcript) { t.Match.TickMicros = 1_000_000 },
			run:   func(p *play) { p.wait(500); p.open(); p.wait(11000) }},
		{id: "malformed", rules: "P-malformed P-malformed-after", about: "What stands before a malformed message counts, and what stands after it does not.",
			run: func(p *play) {
				g := p.join(auth{token: ada})
				p.wait(300)
				g.raw(recordBytes(38, "before"), []byte{0xc1}, recordBytes(38, "after"))
				p.wait(300)
				p.join(auth{token: bob})
				p.wait(300)
			}},
		{id: "unknown-kind", rules: "P-unknown-kind P-malformed", about: "A server does not take a kind of message that it does not know.",
			run: func(p *play) {
				g := p.join(auth{token: ada})
				p.wait(300)
				g.say(41, 1)
				p.wait(300)
			}},
		{id: "record-from-client", rules: "P-unknown-kind P-malformed", about: "A client cannot send records.",
			run: func(p *play) { g := p.join(auth{token: ada}); p.wait(300); g.say(4, 1); p.wait(300) }},
		{id: "error-from-client", rules: "P-malformed P-client-malformed", about: "A client cannot send error: the kind belongs to the server.",
			run: func(p *play) { g := p.join(auth{token: ada}); p.wait(300); g.say(56, 1, "", ""); p.wait(300) }},
		{id: "empty", rules: "P-empty", about: "An empty WebSocket message is malformed.",
			run: func(p *play) { g := p.join(auth{token: ada}); p.wait(300); g.raw(); p.wait(300) }},
		{id: "size-before-welcome", rules: "P-size", about: "Before the welcome, 4097 bytes are too many.",
			run: func(p *play) {
				p.open().raw(auth{token: ada}.message(), recordBytes(38, strings.Repeat("x", 1024)), recordBytes(38, strings.Repeat("x", 1024)),
					recordBytes(38, strings.Repeat("x", 1024)), recordBytes(38, strings.Repeat("x", 1024)))
				p.wait(300)
			}},
		{id: "many", rules: "P-many", about: "Several messages in one WebSocket message are taken in order, also behind auth.",
			run: func(p *play) {
				p.open().raw(auth{token: ada}.message(), recordBytes(37, 1), recordBytes(33, 1, kindAdd, addPayload(3)), recordBytes(37, 2), recordBytes(38, "hello"))
				p.wait(500)
			}},
		{id: "busy-strangers", rules: "P-closing", about: "With two strangers allowed, the third is let in, and the oldest is closed.",
			setup: func(t *Transcript) { t.Host.MaxConnecting = 2 },
			run: func(p *play) {
				p.open()
				p.wait(100)
				p.open()
				p.wait(100)
				p.open()
				p.wait(100)
			}},
		{id: "observer", rules: "P-observer P-state", about: "A client that does not simulate acknowledges the ticks that it has taken, and reports nothing.",
			run: func(p *play) {
				g := p.join(auth{token: bob, platform: "recorder"})
				g.observer = true
				p.wait(3000)
				g.add(4)
				p.wait(1000)
			}},
	})
}
