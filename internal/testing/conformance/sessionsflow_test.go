package conformance

import "strings"

// flowSessions are about acks, lag and the end of a match.
func flowSessions() []Built {
	return transcriptCases([]scenario{
		{id: "ack-wrong-position", rules: "P-ack-wrong P-malformed", about: "An ack of a record that was not sent is malformed.",
			run: func(p *play) { g := p.join(auth{token: ada}); p.wait(300); g.say(40, 99, 1); p.wait(200) }},
		{id: "ack-wrong-tick", rules: "P-ack-wrong P-malformed", about: "An ack of a tick that is not sealed is malformed.",
			run: func(p *play) { g := p.join(auth{token: ada}); p.wait(300); g.say(40, 2, 99); p.wait(200) }},
		{id: "ack-old", rules: "P-ack-old", about: "An ack of a lower position has no effect.",
			run: func(p *play) { g := p.join(auth{token: ada}); p.wait(800); g.say(40, 1, 0); p.wait(200) }},
		{id: "window", rules: "P-window", about: "Without acks the server stops after 64 records and half of the lag.",
			setup: func(t *Transcript) {
				t.Match.TickMicros, t.Match.CheckEvery, t.Host.LagTicks = 20_000, 50, 200
			},
			run: func(p *play) {
				p.join(auth{token: bob}).silent = true
				g := p.join(auth{token: ada})
				g.silent = true
				p.wait(200)
				g.mute = true
				p.wait(3600)
				g.mute = false
				g.ack()
				p.wait(300)
			}},
		{id: "lag", rules: "P-lag P-sync-any", about: "A client that lags more than it may gets a state_sync in place of the records that it missed.",
			setup: func(t *Transcript) {
				t.Match.TickMicros, t.Match.CheckEvery, t.Host.LagTicks = 50_000, 20, 40
			},
			run: func(p *play) {
				g := p.join(auth{token: ada})
				p.wait(500)
				g.mute = true
				p.wait(2200)
				g.mute = false
				p.wait(600)
			}},
		{id: "slow", rules: "P-slow P-lag P-closing", about: "A client that needs a fourth state_sync because of lag is too slow.",
			setup: func(t *Transcript) {
				t.Match.TickMicros, t.Match.CheckEvery, t.Host.LagTicks = 100_000, 10, 20
			},
			run: func(p *play) {
				g := p.join(auth{token: ada})
				p.wait(300)
				g.mute = true
				for range 4 {
					p.wait(2300)
					g.ack()
				}
				p.wait(3000)
			}},
		{id: "sync-unread", rules: "P-slow", about: "A client that does not acknowledge a state_sync in time is too slow.",
			setup: func(t *Transcript) {
				t.Match.TickMicros, t.Match.CheckEvery, t.Host.SyncMS = 500_000, 2, 2000
			},
			run: func(p *play) {
				g := p.open()
				g.mute = true
				g.raw(auth{token: ada}.message())
				p.wait(3000)
			}},
		{id: "sync-chunks", rules: "P-sync-order P-private", about: "A large state comes in chunks, as much in a tick as the server allows, with other messages between them.",
			setup: func(t *Transcript) { t.Host.SyncBytesPerTick = 1024 },
			run: func(p *play) {
				g := p.join(auth{token: bob})
				p.wait(300)
				for range 4 {
					g.command(kindSay, sayPayload(strings.Repeat("samestep", 150)))
					p.wait(100)
				}
				p.wait(5000)
				e := p.join(auth{token: ada})
				p.wait(100)
				e.say(37, 5)
				e.say(36)
				p.wait(900)
			}},
		{id: "sync-back", rules: "P-sync-back", about: "A client that asks for a state gets the keyframe of 4 s ago, and the records since then again.",
			run: func(p *play) {
				g := p.join(auth{token: ada})
				p.wait(4000)
				g.say(36)
				p.wait(500)
			}},
		{id: "idle", rules: "P-idle P-ping P-closing", about: "A client that answers no ping is closed after 10 s.",
			setup: func(t *Transcript) { t.Match.TickMicros, t.Match.CheckEvery = 1_000_000, 60 },
			run: func(p *play) {
				g := p.join(auth{token: ada})
				g.deaf, g.mute = true, true
				p.wait(11000)
			}},
		{id: "ping", rules: "P-ping", about: "Pings are answered with their nonce and the last sealed tick.",
			run: func(p *play) {
				g := p.join(auth{token: ada})
				p.wait(450)
				g.say(37, maxU64)
				g.say(37, 0)
				p.wait(100)
			}},
	})
}

// matchSessions are about what concerns the whole match.
func matchSessions() []Built {
	two := func(run func(*play, *guest)) func(*play) {
		return func(p *play) {
			g := p.join(auth{token: ada})
			p.join(auth{token: eve})
			p.wait(450)
			run(p, g)
			p.wait(500)
		}
	}
	return transcriptCases([]scenario{
		{id: "pause", rules: "P-system", about: "The operator pauses the match for a player, and lets it go on.",
			run: two(func(p *play, g *guest) {
				p.operator("pause", 0, "")
				p.wait(1000)
				g.add(1)
				p.operator("resume", 0, "")
			})},
		{id: "pause-seats", rules: "P-presence P-back P-system", about: "In a pause a player is lost and comes back: events tell it at once, and the first frame after the pause has both commands before the resume.",
			run: func(p *play) {
				g := p.join(auth{token: ada})
				p.join(auth{token: eve})
				p.wait(450)
				p.operator("pause", 0, "")
				p.wait(200)
				g.cut()
				p.wait(200)
				p.resume(g)
				p.wait(200)
				p.operator("resume", 0, "")
				p.wait(300)
			}},
		{id: "pause-cancelled", rules: "P-system", about: "A pause that is taken back before its tick is sealed: both commands stand in one frame, and the match goes on.",
			run: two(func(p *play, g *guest) {
				p.operator("pause", 0, "")
				p.operator("resume", 0, "")
			})},
		{id: "speed", rules: "P-system", about: "Half the speed, then twice the speed.",
			run: two(func(p *play, g *guest) {
				p.operator("speed", 50, "")
				p.wait(1000)
				p.operator("speed", 200, "")
			})},
		{id: "held", rules: "P-held", about: "The match stands still because of a full disk, and goes on; who comes meanwhile is told.",
			run: two(func(p *play, g *guest) {
				p.operator("hold", 0, "the disk is full")
				p.wait(500)
				p.join(auth{token: bob})
				p.wait(300)
				p.operator("hold", 0, "")
			})},
		{id: "kick", rules: "P-closing P-system", about: "A kicked player loses the seat.",
			run: two(func(p *play, g *guest) { p.operator("kick", 0, "bad manners"); p.wait(200) })},
		{id: "kick-return", rules: "P-banned P-closing P-session-unknown", about: "A kicked player comes back at once, with its session and its token, and is told for how long it is banned.",
			run: two(func(p *play, g *guest) {
				p.operator("kick", 0, "bad manners")
				p.wait(50)
				p.again(g, auth{token: ada, session: g.session})
				p.wait(200)
			})},
		{id: "ban", rules: "P-banned P-closing P-system", about: "A banned player loses the seat, and is kept out for the rest of the match.",
			run: two(func(p *play, g *guest) {
				p.operator("ban", 0, "bad manners")
				p.wait(1000)
				p.again(g, auth{token: ada})
				p.wait(200)
			})},
		{id: "chat-spectator", rules: "P-chat-spectator P-chat", about: "A spectator may not chat; a player's line reaches everybody.",
			run: func(p *play) {
				g := p.join(auth{token: ada})
				e := p.join(auth{token: eve})
				p.wait(300)
				e.say(38, "hello?")
				g.say(38, "hello")
				p.wait(200)
			}},
		{id: "chat-watching", rules: "P-chat", about: "A spectator chats where spectators may: the note is of player 255.",
			setup: func(t *Transcript) { t.Host.SpectatorChat = true },
			run: func(p *play) {
				e := p.join(auth{token: eve})
				p.wait(300)
				e.say(38, "hello")
				p.wait(200)
			}},
		{id: "end", rules: "P-end P-closing", about: "The match ends: the end record, then closing; who comes later is told as well.",
			run: two(func(p *play, g *guest) {
				p.operator("end", 0, "enough")
				p.wait(100)
				p.open()
			})},
		{id: "shutdown", rules: "P-shutdown P-closing", about: "The server stops, and says when to come back.",
			run: two(func(p *play, g *guest) { p.operator("shutdown", 3000, "") })},
		{id: "delay", rules: "P-delay P-sync-back", about: "A spectator sees the match 10 ticks later than a player, and the rest at its end.",
			setup: func(t *Transcript) { t.Host.SpectatorDelayTicks = 10 },
			run: func(p *play) {
				g := p.join(auth{token: ada})
				p.wait(2000)
				e := p.join(auth{token: eve})
				g.add(3)
				p.wait(1500)
				e.say(37, 1)
				p.operator("end", 0, "enough")
				p.wait(300)
			}},
		{id: "delay-recovery", rules: "P-delay P-recovery P-closing", about: "After a crash, a spectator of a match with a delay of 40 s is told when there is something to see.",
			setup: func(t *Transcript) { t.Host.SpectatorDelayTicks = 400 },
			run: func(p *play) {
				p.join(auth{token: ada})
				p.wait(1000)
				p.operator("crash", int64(len(p.records)), "")
				p.wait(500)
				p.join(auth{token: eve})
				p.wait(200)
			}},
		{id: "slow-policy", rules: "P-system", about: "The match slows down for a player that does not keep up.",
			setup: func(t *Transcript) { t.Host.SlowPercent = 50 },
			run: func(p *play) {
				g := p.join(auth{token: ada})
				p.wait(500)
				g.mute = true
				p.wait(5500)
			}},
		{id: "start", rules: "P-system", about: "No tick is sealed before two players have joined.",
			setup: func(t *Transcript) { t.Host.StartPlayers = 2 },
			run: func(p *play) {
				p.join(auth{token: ada})
				p.wait(700)
				p.join(auth{token: bob})
				p.wait(500)
			}},
		{id: "lobby", rules: "P-ready P-presence P-held P-roster", about: "A match begins after a countdown when both players are ready; one of them goes away and comes back, and a third learns who is there.",
			setup: func(t *Transcript) { t.Host.StartReady, t.Host.StartCountdownMS = true, 1000 },
			run: func(p *play) {
				a := p.join(auth{token: ada})
				p.wait(100)
				a.say(42, true)
				p.wait(100)
				b := p.join(auth{token: bob})
				p.wait(100)
				b.say(42, true)
				p.wait(300)
				b.cut()
				p.wait(100)
				p.join(auth{token: eve})
				p.wait(100)
				b = p.join(auth{token: bob})
				b.say(42, true)
				p.wait(100)
				a.say(42, false)
				p.wait(100)
				a.say(42, true)
				p.wait(1500)
			}},
		{id: "lobby-admin", rules: "P-held", about: "An operator begins a match whose players are not all there.",
			setup: func(t *Transcript) { t.Host.StartPlayers = 2 },
			run: func(p *play) {
				p.join(auth{token: ada})
				p.wait(100)
				p.operator("start", 0, "")
				p.wait(300)
			}},
		{id: "lobby-away", rules: "P-presence", about: "An operator begins a match while one of its players is away, and one has left: the first frame tells the seats as they are.",
			setup: func(t *Transcript) { t.Host.StartPlayers, t.Match.Players, t.Tokens = 3, 3, nil },
			run: func(p *play) {
				p.join(auth{token: guestAnn})
				b := p.join(auth{token: "guest:Bob:fedcba9876543210"})
				c := p.join(auth{token: "guest:Cid:00112233445566778899"})
				p.operator("hold", 0, "wait")
				p.wait(100)
				b.cut()
				c.say(39, "")
				p.deliver()
				p.wait(100)
				p.operator("start", 0, "")
				p.operator("hold", 0, "")
				p.wait(300)
			}},
		{id: "lobby-flood", rules: "P-ready", about: "A player that changes its mind again and again is heard later, what it says last. A spectator that is ready gets an error.",
			setup: func(t *Transcript) { t.Host.StartReady = true },
			run: func(p *play) {
				a, w := p.join(auth{token: ada}), p.join(auth{token: eve})
				for i := range 12 {
					a.say(42, i%2 == 0)
				}
				w.say(42, true)
				p.wait(2000)
			}},
		{id: "wait", rules: "P-ack P-held", about: "The match waits for a player that acknowledges nothing, for half a second.",
			setup: func(t *Transcript) { t.Host.WaitMS = 500 },
			run: func(p *play) {
				p.join(auth{token: bob})
				g := p.join(auth{token: ada})
				p.wait(600)
				g.mute = true
				p.wait(3000)
			}},
	})
}
