package conformance

import (
	"fmt"
	"strings"
)

// commandSessions are about commands and their answers.
func commandSessions() []Built {
	playing := func(run func(*play, *guest)) func(*play) {
		return func(p *play) {
			g := p.join(auth{token: ada})
			p.wait(250)
			run(p, g)
			p.wait(500)
		}
	}
	return transcriptCases([]scenario{
		{id: "command", rules: "P-command P-system", about: "A command is accepted for a tick and runs in it; the input delay is 1 tick, then 3.",
			run: playing(func(p *play, g *guest) {
				g.add(5)
				p.wait(300)
				g.command(kindSay, sayPayload("hello"))
				p.operator("input_delay", 3, "")
				p.wait(300)
				g.add(-5)
			})},
		{id: "command-repeat", rules: "P-command-repeat", about: "A repeat gets the same answer, also with another content, and the command runs once.",
			run: playing(func(p *play, g *guest) {
				g.add(5)
				g.say(33, 1, kindAdd, addPayload(99))
				p.wait(300)
				g.say(33, 1, kindAdd, addPayload(5))
				g.say(33, 2, kindAdd, addPayload(0))
				g.say(33, 2, kindAdd, addPayload(1))
			})},
		{id: "command-order", rules: "P-command-order", about: "Commands arrive as 3, 1, 2 and run in the order of their sequences.",
			run: playing(func(p *play, g *guest) {
				g.say(33, 3, kindSay, sayPayload("third"))
				g.say(33, 1, kindSay, sayPayload("first"))
				g.say(33, 2, kindSay, sayPayload("second"))
			})},
		{id: "reject-stale", rules: "P-command-reason", about: "Reason 3: a higher sequence is sealed.",
			run: playing(func(p *play, g *guest) {
				g.say(33, 2, kindAdd, addPayload(1))
				p.wait(300)
				g.say(33, 1, kindAdd, addPayload(1))
				g.say(33, 0, kindAdd, addPayload(1))
			})},
		{id: "reject-far", rules: "P-command-reason", about: "Reason 4: 257 above the highest decided sequence; 256 above it is taken.",
			run: playing(func(p *play, g *guest) {
				g.say(33, 257, kindAdd, addPayload(1))
				g.say(33, 256, kindAdd, addPayload(1))
				g.say(33, 257, kindAdd, addPayload(1))
			})},
		{id: "reject-large", rules: "P-command-reason", about: "Reason 5: a payload of 16,385 bytes.",
			run: playing(func(p *play, g *guest) { g.command(kindSay, sayPayload(strings.Repeat("x", 16381))) })},
		{id: "reject-many", rules: "P-command-reason", about: "Reason 6: a third command in one tick where two are allowed.",
			setup: func(t *Transcript) { t.Host.MaxPerTick = 2 },
			run: playing(func(p *play, g *guest) {
				for range 3 {
					g.add(1)
				}
				p.wait(200)
				g.add(1)
			})},
		{id: "reject-often", rules: "P-command-often", about: "Reason 11: a third addition in a second where two are allowed; other kinds have no limit, and a reconnect and a crash do not refill it.",
			setup: func(t *Transcript) { t.Host.AddsPerSecond = 2 },
			run: playing(func(p *play, g *guest) {
				for range 3 {
					g.add(1)
				}
				g.command(kindSay, sayPayload("hello"))
				p.wait(300)
				g.cut()
				p.again(g, auth{token: ada})
				p.wait(300)
				g.say(33, 5, kindAdd, addPayload(1))
				p.operator("crash", int64(len(p.records)), "")
				p.again(g, auth{token: ada})
				p.wait(200)
				g.say(33, 6, kindAdd, addPayload(1))
				p.wait(500)
				g.say(33, 7, kindAdd, addPayload(1))
			})},
		{id: "reject-kind", rules: "P-command-reason P-system", about: "Reason 7: a kind that the game does not have, and one of the system.",
			run: playing(func(p *play, g *guest) {
				g.command(3, []byte{1})
				g.command(speedSet, []byte{1, 0})
			})},
		{id: "reject-malformed", rules: "P-command-reason", about: "Reason 8: payloads that are no values of their kind.",
			run: playing(func(p *play, g *guest) {
				g.command(kindAdd, []byte{})
				g.command(kindAdd, []byte{1})
				g.command(kindAdd, []byte{1, 0, 0})
				g.command(kindSay, []byte("\x06\x00\x00\x00hello"))
			})},
		{id: "reject-refused", rules: "P-command-reason", about: "Reason 9: the game's rules refuse to add nothing.",
			run: playing(func(p *play, g *guest) { g.add(0); g.add(1) })},
		{id: "reject-rate", rules: "P-command-reason P-limit-commands", about: "Reason 10: 301 commands at once; the last may be sent again later.",
			run: playing(func(p *play, g *guest) {
				for range 3 {
					var all [][]byte
					for range 100 {
						g.sequence++
						all = append(all, recordBytes(33, g.sequence, kindAdd, addPayload(1)))
					}
					g.raw(all...)
					p.wait(150)
				}
				for range 40 {
					g.add(1)
				}
			})},
		{id: "reject-ended", rules: "P-command-reason P-end P-window", about: "Reason 1: a command after the end, of a client that has records to read yet.",
			setup: func(t *Transcript) {
				t.Match.TickMicros, t.Match.CheckEvery, t.Host.LagTicks = 20_000, 50, 200
			},
			run: playing(func(p *play, g *guest) {
				g.mute = true
				p.wait(3600)
				p.operator("end", 0, "enough")
				g.add(1)
				g.mute = false
				g.ack()
			})},
		{id: "command-spectator", rules: "P-command-spectator", about: "A spectator has no commands.",
			run: func(p *play) {
				g := p.join(auth{token: eve})
				p.wait(300)
				g.add(1)
				p.wait(300)
			}},
	})
}

// limitSessions are about what a connection may do.
func limitSessions() []Built {
	flood := func(n int, message []byte) func(*play) {
		return func(p *play) {
			g := p.join(auth{token: ada})
			p.wait(250)
			for n > 0 && g.closed == "" {
				var all [][]byte
				for range min(n, 300) {
					all = append(all, message)
				}
				n -= len(all)
				g.raw(all...)
				p.deliver()
			}
			p.wait(1500)
		}
	}
	return transcriptCases([]scenario{
		{id: "limit-messages", rules: "P-limit-messages", about: "Of 650 messages at once, those beyond 600 are passed over; one error a second says so.",
			run: func(p *play) {
				g := p.join(auth{token: ada})
				p.wait(250)
				one := recordBytes(54, 99, 0)
				for range 13 {
					var all [][]byte
					for range 50 {
						all = append(all, one)
					}
					g.raw(all...)
				}
				g.say(37, 7)
				p.wait(300)
				g.say(37, 8)
				p.wait(300)
			}},
		{id: "limit-bytes", rules: "P-limit-bytes", about: "Where 4,096 bytes are allowed at once, and 1,024 a second, the fifth message of 1,000 is passed over.",
			setup: func(t *Transcript) { t.Host.BytesRate, t.Host.BytesBurst = 1024, 4096 },
			run: func(p *play) {
				g := p.join(auth{token: ada})
				p.wait(250)
				for i := range 5 {
					g.raw(recordBytes(38, strings.Repeat("x", 990)), recordBytes(37, i))
				}
				p.wait(1000)
				g.say(37, 9)
				p.wait(300)
			}},
		{id: "limit-chat", rules: "P-limit-chat P-chat", about: "Five lines of chat at once, then one a second.",
			run: func(p *play) {
				g := p.join(auth{token: ada})
				p.wait(250)
				for range 7 {
					g.say(38, "hi")
				}
				g.say(38, "")
				p.wait(1100)
				g.say(38, "later")
				p.wait(300)
			}},
		{id: "limit-syncs", rules: "P-limit-syncs P-sync-request", about: "Four keyframes may be asked for; the fifth request has an error.",
			run: func(p *play) {
				g := p.join(auth{token: ada})
				for range 5 {
					p.wait(300)
					g.say(36)
				}
				p.wait(300)
			}},
		{id: "limit-notes", rules: "P-limit-notes P-token-guest", about: "Guests take turns in a seat, each under another name: the log has 32 names at once, and soon that of the last guest.",
			run: func(p *play) {
				for i := range 40 {
					g := p.join(auth{token: fmt.Sprintf("guest:%[1]d:0123456789abcd%02[1]d", i)})
					if i < 39 {
						g.say(39, "")
						p.deliver()
					}
				}
				p.wait(1200)
			}},
		{id: "limit-subject", rules: "P-limit-subject P-limit-syncs", about: "A client that reconnects does not begin anew: the fifth keyframe asked for, on its second connection, has an error.",
			run: func(p *play) {
				g := p.join(auth{token: ada})
				for range 3 {
					p.wait(500)
					g.say(36)
				}
				p.wait(100)
				g.cut()
				p.resume(g)
				for range 2 {
					p.wait(500)
					g.say(36)
				}
				p.wait(200)
			}},
		{id: "limit-returns", rules: "P-limit-returns P-closing", about: "A player takes a seat 20 times; the 21st is too often.",
			run: func(p *play) {
				p.wait(50)
				g := p.join(auth{token: ada})
				g.quiet = true
				for range 20 {
					g.cut()
					p.resume(g)
				}
				p.wait(300)
			}},
		{id: "abuse", rules: "P-abuse", about: "More than 100 offences at once close the connection.",
			run: flood(300, recordBytes(34, 7, 1, array{}))},
	})
}
