package conformance

import "encoding/hex"

// values returns the bytes of values, one after the other.
func values(v ...any) (b []byte) {
	for _, v := range v {
		b = append(b, pack(v)...)
	}
	return b
}

// datagram sends a datagram.
func (g *guest) datagram(v ...any) {
	g.p.input("client", Step{Conn: g.conn, Do: "datagram", Hex: hex.EncodeToString(values(v...))})
	g.p.deliver()
}

// datagramSessions are about the datagrams of clients.
func datagramSessions() []Built {
	malformed := func(id, about string, v ...any) scenario {
		return scenario{id: id, rules: "D-malformed P-malformed", about: about,
			run: func(p *play) { g := p.join(auth{token: ada}); p.wait(300); g.datagram(v...); p.wait(200) }}
	}
	return transcriptCases([]scenario{
		{id: "datagram-command", rules: "D-once", about: "A command comes in two datagrams, the later one first, and by the stream: it runs once.",
			run: func(p *play) {
				g := p.join(auth{token: ada})
				p.wait(450)
				g.datagram(2, 2, 0, 0, g.position, 0, int(g.tick), 1, kindAdd, addPayload(5))
				g.datagram(2, 1, 0, 0, g.position, 0, int(g.tick), 1, kindAdd, addPayload(5))
				g.add(5)
				p.wait(300)
			}},
		malformed("datagram-malformed", "A malformed datagram ends the connection as a malformed message does.", 2, 1),
		malformed("datagram-ack-wrong", "A datagram acknowledges a record that was not sent.", 2, 1, 0, 0, 99, 0, 1),
		malformed("datagram-seen-wrong", "A datagram acknowledges one that was not sent.", 2, 1, 5, 5, 0, 0, 0),
	})
}

// fakeDatagramSessions are about the datagrams of servers.
func fakeDatagramSessions() []Built {
	fakes := func(id, rules, about string, run func(*fake)) scenario {
		return scenario{id: "fake-datagram-" + id, rules: rules, about: about,
			setup: func(t *Transcript) {
				t.Tokens, t.Match, t.Client.Datagrams = nil, Setting{1, 2, 20, 5, 10, 100}, true
			},
			serve: func(f *fake) {
				f.wait(10)
				f.server(welcome(false, 1, 0, 0), stateSync(newMatch(setup{}), 1))
				f.wait(40)
				run(f)
				f.wait(1000)
			}}
	}
	empty := recordBytes(4, 1)
	return transcriptCases([]scenario{
		fakes("early", "D-once", "Datagrams bring five ticks before the stream, twice, and the first of them last.", func(f *fake) {
			f.datagram(2, 2, values(4))
			f.wait(20)
			f.datagram(1, 1, values(5))
			f.wait(50)
			f.datagram(1, 1, values(5))
			for range 6 {
				f.server(empty)
			}
		}),
		fakes("late", "D-once", "A datagram brings a command that the stream has brought already.", func(f *fake) {
			frame := recordBytes(3, 0, 1, kindAdd, addPayload(5))
			for range 4 {
				f.server(empty)
			}
			f.server(frame)
			f.datagram(1, 5, frame)
			f.wait(50)
			f.server(empty)
		}),
		fakes("differs", "D-differs", "A datagram has another record of a position than the stream: the client comes again, and has no position.", func(f *fake) {
			f.datagram(1, 1, values(3))
			f.wait(50)
			f.server(empty, recordBytes(3, 0, 1, kindAdd, addPayload(5)))
		}),
		fakes("malformed", "D-malformed P-client-malformed", "A malformed datagram: the client closes the connection, and resumes.", func(f *fake) {
			f.server(empty)
			f.wait(50)
			f.datagram(1, 2, values(200))
		}),
	})
}
