package conformance

// fakeSessions are played with a Client and a server of another make: what our
// Host never sends.
func fakeSessions() []Built {
	joined := func(run func(*fake, *match)) func(*fake) {
		return func(f *fake) {
			m := newMatch(setup{})
			f.wait(10)
			f.server(welcome(false, 1, 0, 0), stateSync(m, 1))
			f.wait(40)
			run(f, m)
			f.wait(1500)
		}
	}
	// empty sends ticks, one each 50 ms.
	empty := func(f *fake, m *match, ticks int) {
		for range ticks {
			m.empty(1)
			f.server(recordBytes(4, 1))
			f.wait(50)
		}
	}
	fakes := func(id, rules, about string, run func(*fake)) scenario {
		return scenario{id: "fake-" + id, rules: rules, about: about, serve: run,
			setup: func(t *Transcript) { t.Tokens, t.Match = nil, Setting{1, 2, 20, 5, 10, 100} }}
	}
	return transcriptCases([]scenario{
		fakes("malformed", "P-client-malformed P-resume", "A client gets what is no message: it closes the connection, sends no error, and resumes.", joined(func(f *fake, m *match) {
			empty(f, m, 3)
			f.server([]byte{0xc1})
			f.wait(400)
			f.server(welcome(true, 4, 3, 0))
			empty(f, m, 2)
		})),
		fakes("unknown-message", "P-unknown-kind P-client-malformed", "A message of kind 55.", joined(func(f *fake, m *match) { f.server(recordBytes(55, 1)) })),
		fakes("unknown-critical", "P-unknown-kind P-client-malformed", "A record of kind 8.", joined(func(f *fake, m *match) { f.server(recordBytes(8, 1)) })),
		fakes("client-kind", "P-unknown-kind P-client-malformed", "A message that only a client sends.", joined(func(f *fake, m *match) { f.server(recordBytes(39, "")) })),
		fakes("unknown-record", "P-unknown-record", "Records of kinds 100 and 200 are passed over, and acknowledged.", joined(func(f *fake, m *match) {
			f.server(recordBytes(100, []byte("later")), recordBytes(200, []byte{}))
			empty(f, m, 5)
		})),
		fakes("unknown-error", "P-unknown-error P-held", "Error 99 and held change nothing.", joined(func(f *fake, m *match) {
			f.server(recordBytes(56, 99, "new", "field"), recordBytes(58, "the disk is full", []byte{1}, 0, 5000), recordBytes(58, "", []byte{}, 0, 0))
			empty(f, m, 5)
		})),
		fakes("unknown-closing", "P-unknown-closing P-closing", "Closing 99 with a time to come back after, and then without.", joined(func(f *fake, m *match) {
			f.server(recordBytes(57, 99, "new", 700))
			f.wait(1000)
			f.server(recordBytes(57, 99, "new", 0))
		})),
		fakes("unknown-reason", "P-unknown-reason P-command-again", "A command that is rejected for reason 200 is not sent again.", joined(func(f *fake, m *match) {
			f.player("add", 5, "")
			f.server(recordBytes(51, 1, 200, ""))
			f.refuse()
			f.wait(400)
			f.server(welcome(true, 1, 0, 1))
			empty(f, m, 1)
		})),
		fakes("unknown-system", "F-system-kind P-client-malformed", "A command of the system of kind 9 is malformed.", joined(func(f *fake, m *match) {
			f.server(recordBytes(3, 255, 1, 9, recordBytes(1)))
		})),
		fakes("greeting", "P-greeting P-ping P-client-malformed", "A ping may come before the welcome, a state_sync may not.", func(f *fake) {
			f.server(recordBytes(37, 7))
			f.wait(100)
			f.server(stateSync(newMatch(setup{}), 1))
			f.wait(500)
		}),
		fakes("renumbered", "P-recovery-sequence P-command-again", "Undecided commands that a crash put more than 256 above the last sequence get new sequences.", func(f *fake) {
			m := newMatch(setup{})
			f.wait(10)
			f.server(welcome(false, 1, 0, 1000), stateSync(m, 1))
			f.wait(40)
			f.player("add", 5, "")
			f.player("add", 6, "")
			f.refuse()
			f.wait(400)
			f.server(welcome(false, 1, 0, 700), stateSync(m, 1))
			f.wait(50)
			f.player("add", 7, "")
			f.wait(500)
		}),
		fakes("speed-zero", "P-welcome-range P-client-malformed", "A welcome with a speed of 0 is malformed.", func(f *fake) {
			m := newMatch(setup{})
			f.server(recordBytes(48, 0, 1, sessionOne, 0, 1, false, 0, 10, 1, 0), stateSync(m, 1))
			f.wait(500)
		}),
		fakes("welcome-position", "P-welcome-position", "Without resumption the position of the welcome is not where the stream begins.", func(f *fake) {
			m := newMatch(setup{})
			f.server(welcome(false, 500, 30, 0), stateSync(m, 10))
			f.wait(50)
			empty(f, m, 5)
			f.wait(500)
		}),
		fakes("resume-wrong", "P-resume P-client-malformed", "A welcome that resumes at another position than was asked for is malformed.", joined(func(f *fake, m *match) {
			empty(f, m, 2)
			f.refuse()
			f.wait(400)
			f.server(welcome(true, 2, 2, 0))
		})),
		fakes("record-first", "P-stream P-client-malformed", "A record before the state.", func(f *fake) { f.server(welcome(false, 1, 0, 0), recordBytes(4, 1)); f.wait(500) }),
		fakes("keyframe", "P-stream P-client-malformed", "A keyframe in the stream.", joined(func(f *fake, m *match) {
			f.server(keyframe(0, m.hash(), m.lasts(), m.state()))
		})),
		fakes("many", "P-many P-private", "Messages and records are divided among WebSocket messages in another way.", func(f *fake) {
			m := newMatch(setup{})
			f.server(welcome(false, 1, 0, 0), recordBytes(37, 1), chunk(m, 1, 0, 100), recordBytes(54, 9, 0), chunk(m, 1, 100, len(m.joinBytes())), recordBytes(4, 1), recordBytes(37, 2))
			f.wait(300)
		}),
	})
}

// fakeSyncSessions are about states that a server of another make sends.
func fakeSyncSessions() []Built {
	all := func(m *match) int { return len(m.joinBytes()) }
	fakes := func(id, rules, about string, run func(*fake, *match)) scenario {
		return scenario{id: "fake-" + id, rules: rules, about: about,
			setup: func(t *Transcript) { t.Tokens, t.Match = nil, Setting{1, 2, 20, 5, 10, 100} },
			serve: func(f *fake) {
				f.server(welcome(false, 1, 0, 0))
				run(f, newMatch(setup{}))
				f.wait(1000)
			}}
	}
	ticks := func(f *fake, n int) {
		for range n {
			f.server(recordBytes(4, 1))
			f.wait(50)
		}
	}
	return transcriptCases([]scenario{
		fakes("sync-gap", "P-sync-order P-client-malformed", "A chunk is missing.", func(f *fake, m *match) { f.server(chunk(m, 1, 0, 100)); f.server(chunk(m, 1, 150, all(m))) }),
		fakes("sync-middle", "P-sync-order P-client-malformed", "A sync that begins in its middle.", func(f *fake, m *match) { f.server(chunk(m, 1, 100, all(m))) }),
		fakes("sync-changed", "P-sync-order P-client-malformed", "Two chunks of one sync name different positions.", func(f *fake, m *match) { f.server(chunk(m, 1, 0, 100)); f.server(chunk(m, 2, 100, all(m))) }),
		fakes("sync-empty", "P-sync-order P-client-malformed", "An empty chunk.", func(f *fake, m *match) { f.server(chunk(m, 1, 0, 100)); f.server(chunk(m, 1, 100, 100)) }),
		fakes("sync-anew", "P-sync-order", "A sync that begins anew replaces one that is not complete.", func(f *fake, m *match) {
			f.server(chunk(m, 1, 0, 100))
			f.wait(50)
			m.empty(4)
			f.server(chunk(m, 5, 0, 200))
			f.server(chunk(m, 5, 200, all(m)))
			f.wait(50)
			ticks(f, 3)
		}),
		fakes("sync-hash", "P-sync-bad", "A state that does not have the keyframe's checksum: the client asks for another one, and takes it.", func(f *fake, m *match) {
			bad := append(m.records[0], keyframe(0, m.hash()+1, m.lasts(), m.state())...)
			f.server(recordBytes(49, 1, 0, 0, len(bad), bad))
			f.wait(100)
			f.server(stateSync(m, 1))
			ticks(f, 5)
		}),
		fakes("sync-tick", "P-sync-bad", "A keyframe of another tick than the chunks name, three times: the client gives up.", func(f *fake, m *match) {
			for range 3 {
				f.server(recordBytes(49, 1, 3, 0, all(m), m.joinBytes()))
				f.wait(100)
			}
		}),
		fakes("sync-game", "P-sync-bad", "The header of another build: the client gives up.", func(f *fake, m *match) { f.server(stateSync(newMatch(setup{build: "2"}), 1)) }),
		fakes("sync-match", "P-sync-bad", "A second sync of another match: the client gives up.", func(f *fake, m *match) {
			f.server(stateSync(m, 1))
			ticks(f, 2)
			f.server(stateSync(newMatch(setup{id: "another match :("}), 1))
		}),
		fakes("sync-between", "P-sync-between P-sync-any", "Records between the chunks go on with the stream before.", func(f *fake, m *match) {
			f.server(stateSync(m, 1))
			ticks(f, 3)
			m.empty(20)
			f.server(chunk(m, 21, 0, 100))
			ticks(f, 2)
			f.server(recordBytes(54, 1, 20), chunk(m, 21, 100, all(m)))
			f.wait(50)
			ticks(f, 5)
		}),
		fakes("sync-back", "P-sync-back", "A sync of an earlier tick and a lower position.", func(f *fake, m *match) {
			f.server(stateSync(m, 1))
			ticks(f, 12)
			m.empty(2)
			f.server(stateSync(m, 3))
			f.wait(50)
			ticks(f, 4)
		}),
		fakes("state", "P-state", "A client answers with the state of a checked tick, and says of another tick that it has none.", func(f *fake, m *match) {
			f.server(stateSync(m, 1))
			ticks(f, 6)
			f.server(recordBytes(52, 5), recordBytes(52, 4))
			f.wait(100)
		}),
		fakes("silence", "P-idle P-ping", "A server that is silent for 5 s is given up.", func(f *fake, m *match) {
			f.server(stateSync(m, 1))
			ticks(f, 2)
			f.wait(5500)
		}),
		fakes("lost", "P-closing", "A connection that ends without closing is tried again, later each time.", func(f *fake, m *match) {
			for range 4 {
				f.refuse()
				for f.cs.conn == 0 {
					f.wait(10)
				}
			}
		}),
		fakes("refused-session", "P-session-unknown P-token", "A client whose session is refused comes again with its token alone.", func(f *fake, m *match) {
			f.server(stateSync(m, 1))
			ticks(f, 2)
			f.refuse()
			f.wait(400)
			f.server(recordBytes(56, 3, "refused", ""), recordBytes(57, 10, "refused", 0))
			f.wait(1000)
		}),
		fakes("answer-void", "P-recovery-sequence P-command-again", "An answer is void when a later welcome names a lower sequence.", func(f *fake, m *match) {
			f.server(stateSync(m, 1))
			ticks(f, 2)
			f.player("add", 5, "")
			f.server(recordBytes(50, 1, 9))
			ticks(f, 1)
			f.refuse()
			f.wait(400)
			f.server(welcome(false, 1, 0, 0), stateSync(m, 1))
			f.wait(50)
			f.server(recordBytes(50, 1, 1), recordBytes(3, 0, 1, kindAdd, addPayload(5)))
			f.wait(100)
		}),
	})
}
