package conformance

import "bytes"

// brokenLogs are files whose records are unknown or in a wrong order.
func brokenLogs() []Built {
	header := newMatch(setup{}).records[0]
	broken := func(id, verdict, about string, m *match, rules ...string) Built {
		return replayCase(id, verdict, about, m.end().file(), rules...)
	}
	bare := func(records ...[]byte) []byte { return newFile().batch(records...).b }
	other := newMatch(setup{}).frame(adds(0, 1))
	return []Built{
		replayCase("order-no-header", "invalid", "A log begins with its keyframe.", bare(newMatch(setup{}).records[1]), "F-order"),
		replayCase("order-no-keyframe", "invalid", "A frame stands before the first keyframe.", bare(header, recordBytes(4, 1), recordBytes(7, "over")), "F-order"),
		replayCase("order-note-early", "invalid", "A note stands before the first keyframe.", bare(header, recordBytes(64, recordBytes(0, "chat", "hi"))), "F-order"),
		replayCase("order-end-early", "invalid", "The end stands before the first keyframe.", bare(header, recordBytes(7, "over")), "F-order"),
		broken("order-two-headers", "invalid", "A second header stands in the log.", begun().add(header), "F-order"),
		broken("record-kind-0", "unsupported", "A record has the kind 0.", begun().add(recordBytes(0, 1)), "F-record-kind"),
		broken("record-kind-8", "unsupported", "A record has the kind 8.", begun().add(recordBytes(8, 1)), "F-record-kind"),
		broken("record-kind-8-alone", "unsupported", "A record of the kind 8 has no other value.", begun().add(recordBytes(8)), "F-record-kind"),
		broken("record-kind-63", "unsupported", "A record has an unknown kind below 64.", begun().add(recordBytes(63, []byte{})), "F-record-kind"),
		broken("keyframe-ahead", "invalid", "A keyframe is of a tick that did not happen yet.",
			begun().add(keyframe(2, other.hash(), array{255, 2}, other.state())), "F-keyframe-later"),
		broken("keyframe-sequences", "invalid", "A keyframe has other sequences than the frames.",
			begun().add(begun().altered(array{0, 1, 255, 2})), "F-keyframe-sequences"),
		broken("keyframe-no-sequences", "invalid", "A keyframe lacks the sequences of the frames.",
			begun().add(begun().altered(array{})), "F-keyframe-sequences"),
		broken("frame-sequence-overflow", "corrupt", "A sequence exceeds 32 bits.",
			begun().frame(jump(adds(0, 1), 1<<32-1)).frame(adds(0, 1)), "F-frame-step"),
		broken("ticks-limit", "limit", "Five runs of 65,536 ticks are more than so few bytes are worth.",
			begun().empty(65536).empty(65536).empty(65536).empty(65536).empty(65536), "F-limits-ticks"),
		broken("tick-overflow-frame", "invalid", "A frame exceeds 32 bits.", lastTick().empty(1).frame(systems(joined, 0)), "F-tick"),
		broken("tick-last", "ok", "A frame of the last tick that there can be.", lastTick().frame(systems(joined, 0)), "F-tick"),
		broken("tick-overflow", "invalid", "A run of empty ticks exceeds 32 bits.", lastTick().add(recordBytes(4, 2)), "F-tick"),
	}
}

// altered returns a keyframe of the current state with other sequences.
func (m *match) altered(lasts array) []byte { return keyframe(m.tick, m.hash(), lasts, m.state()) }

// lastTick returns a match that begins one tick before the largest tick.
func lastTick() *match {
	m := &match{model: model{coins: []int32{100, 100}}, tick: 1<<32 - 2}
	return m.add(pack(setup{}.header())).keyframe()
}

// brokenContents are files whose checks and records are right, but whose content does not
// match the header or the simulation.
func brokenContents() []Built {
	broken := func(id, verdict, about string, m *match, rules ...string) Built {
		return replayCase(id, verdict, about, m.end().file(), rules...)
	}
	payload := func(kind int, b string) *match {
		return begun().frame(command{player: 0, kind: kind, payload: []byte(b)})
	}
	of := func(s setup) *match { return newMatch(s).frame(systems(joined, 0)) }
	short := begun()
	state := short.state()
	wrong := bytes.Clone(state)
	wrong[0] ^= 1
	bad := func(state []byte) *match {
		m := newMatch(setup{})
		m.records = m.records[:1]
		return m.add(keyframe(0, m.hash(), array{}, state)).empty(1)
	}
	zero := newMatch(setup{}).state()
	return []Built{
		broken("seat-command", "invalid", "A player who has no seat gives a command.", begun().frame(adds(9, 1)), "F-frame-seat"),
		broken("seat-command-next", "invalid", "The first player after the last seat gives a command.", begun().frame(adds(2, 1)), "F-frame-seat"),
		broken("seat-joined", "invalid", "The system says that a player joined who has no seat.", begun().frame(systems(joined, 77)), "F-system-seat"),
		broken("seat-left", "invalid", "The system says that a player left who has no seat.", begun().frame(systems(left, 2)), "F-system-seat"),
		broken("seat-taken-over", "invalid", "The system says that a bot plays for a player who has no seat.", begun().frame(systems(takenOver, 2)), "F-system-seat"),
		broken("seat-paused", "invalid", "The system says that it paused the match itself.", begun().frame(systems(paused, system)), "F-system-seat"),
		broken("seat-keyframe", "invalid", "A keyframe has a sequence of a player who has no seat.", keyframeOf(array{2, 1}), "F-keyframe-seat"),
		broken("seat-mismatch", "invalid", "A mismatch is of a player who has no seat.", begun().add(recordBytes(6, 0, 2, uint64(1))), "F-mismatch"),
		broken("speed-zero", "invalid", "The speed is 0 percent.", begun().frame(systems(speedSet, 0)), "F-system-range"),
		broken("speed-low", "invalid", "The speed is 9 percent.", begun().frame(systems(speedSet, 9)), "F-system-range"),
		broken("speed-high", "invalid", "The speed is 1,001 percent.", begun().frame(systems(speedSet, 1001)), "F-system-range"),
		broken("delay-zero", "invalid", "The input delay is 0 ticks.", begun().frame(systems(inputDelaySet, 0)), "F-system-range"),
		broken("delay-high", "invalid", "The input delay is 251 ticks.", begun().frame(systems(inputDelaySet, 251)), "F-system-range"),
		broken("system-kind", "invalid", "The system gives a command of an unknown kind.", begun().frame(systems(9, 0)), "F-system-kind"),
		broken("system-payload", "invalid", "A command of the system has a payload of another form.",
			begun().frame(command{player: system, kind: joined, payload: []byte{0, 0}}), "F-system-kind", "F-payload"),
		broken("command-kind", "invalid", "A command has a kind that the header does not describe.", payload(9, ""), "F-frame-kind"),
		broken("payload-trailing", "invalid", "A byte stands after a payload.", payload(kindAdd, "\x05\x00\x00"), "F-payload"),
		broken("payload-empty", "invalid", "A payload has no bytes.", payload(kindAdd, ""), "F-payload"),
		broken("config-form", "invalid", "The configuration has a byte too many for its schema.", of(setup{config: []byte{100, 0, 0, 0, 0}}), "F-config"),
		broken("config-short", "invalid", "The configuration is too short for its schema.", of(setup{config: []byte{100}}), "F-config"),
		broken("keyframe-state-short", "invalid", "The state of the first keyframe is too short for its schema.", bad(zero[:len(zero)-1]), "F-keyframe-state"),
		broken("keyframe-state-long", "invalid", "The state of the first keyframe has a byte too many.", bad(append(bytes.Clone(zero), 0)), "F-keyframe-state"),
		broken("keyframe-state-later", "invalid", "The state of a later keyframe is too short for its schema.",
			begun().add(keyframe(1, short.hash(), array{255, 2}, state[:5])), "F-keyframe-state"),
		broken("keyframe-hash-first", "corrupt", "The state hash of the first keyframe is not that of its state.",
			newMatchOf(zero, 1), "F-keyframe-hash"),
		broken("keyframe-hash-later", "corrupt", "The state of a later keyframe is not that of its state hash, which is right.",
			begun().add(keyframe(1, short.hash(), array{255, 2}, wrong)), "F-keyframe-hash"),
		broken("keyframe-hash-earlier", "corrupt", "The state hash of a keyframe of an earlier tick is not that of its state.",
			begun().frame(adds(0, 1)).add(keyframe(1, 1, array{255, 2}, state)), "F-keyframe-hash"),
		broken("desync-checksum", "desync", "A checksum is not that of the simulation.", begun().add(recordBytes(5, 0, uint64(1))), "F-checksum-true"),
		replayCase("first-keyframe", "corrupt", "The state hash of a keyframe is not that of its state, and an index without an entry follows.",
			newFile().batch(newMatchOf(zero, 1).end().records...).block(64, nil).b, "F-first"),
		replayCase("first-checksum", "desync", "A checksum is not that of the simulation, and rules beyond a limit follow.",
			newFile().batch(begun().add(recordBytes(5, 0, uint64(1))).end().records...).block(66, append(bytes.Clone(rules(true)[:33]), 0x81, 0x80, 0x80, 0x10, 1)).b, "F-first"),
		broken("desync-keyframe", "desync", "A keyframe is whole and is not the state of the simulation.", begun().add(otherKeyframe()), "F-checksum-true"),
		broken("identity-game", "identity", "The match is of another game.", of(setup{game: "conformist"}), "F-identity"),
		broken("identity-build", "identity", "The match is of another build.", of(setup{build: "2"}), "F-identity"),
		broken("identity-engine", "identity", "The match is of another engine.", of(setup{engine: "samestep/2"}), "F-identity"),
		broken("header-protocol", "unsupported", "The records are of another protocol.", of(setup{protocol: 2}), "F-header-protocol"),
		broken("header-protocol-values", "unsupported", "The header of another protocol has another number of values.", of(setup{protocol: 3, more: true}), "F-header-protocol"),
		broken("identity-command", "identity", "A command has another name.",
			of(setup{commands: array{kindAdd, "plus", addSchema, kindSay, "say", saySchema}}), "F-identity"),
		broken("identity-schema", "identity", "A field of the state has another name.", of(setup{stateSchema_: bytes.Replace(stateSchema, []byte("Coins"), []byte("Money"), 1)}), "F-identity"),
		broken("schema-state", "invalid", "The schema of the state is malformed.", of(setup{stateSchema_: stateSchema[:len(stateSchema)-1]}), "F-header-schemas"),
		broken("schema-config", "invalid", "The schema of the configuration is malformed.", of(setup{configSchema: []byte{1, 2, 3}}), "F-header-schemas"),
		broken("schema-command", "invalid", "The schema of a command is malformed.",
			of(setup{commands: array{kindAdd, "add", []byte{}, kindSay, "say", saySchema}}), "F-header-schemas"),
	}
}

// keyframeOf returns a match whose first keyframe has sequences.
func keyframeOf(lasts array) *match {
	m := newMatch(setup{})
	m.records = m.records[:1]
	return m.add(m.altered(lasts))
}

// newMatchOf returns a match whose first keyframe has a state and another state hash.
func newMatchOf(state []byte, hash uint64) *match {
	m := newMatch(setup{})
	m.records = m.records[:1]
	return m.add(keyframe(0, hash, array{}, state)).empty(1)
}

// otherKeyframe returns a keyframe of tick 1 with a right checksum and a state that is not
// the match's.
func otherKeyframe() []byte {
	m := begun()
	m.coins[0]++
	return keyframe(1, m.hash(), m.lasts(), m.state())
}
