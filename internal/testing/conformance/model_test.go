package conformance

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
)

// A node is one node of a schema's description.
type node struct {
	kind, fraction byte
	count          uint32
	name           string
}

// describe returns the description of a schema.
func describe(nodes ...node) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(nodes)))
	for _, n := range nodes {
		b = binary.LittleEndian.AppendUint32(append(b, n.kind, n.fraction), n.count)
		b = append(binary.LittleEndian.AppendUint32(b, uint32(len(n.name))), n.name...)
	}
	return b
}

// The kinds of nodes.
const (
	tBool, tInt8, tInt16, tInt32, tInt64      = 1, 2, 3, 4, 5
	tUint8, tUint16, tUint32, tUint64         = 6, 7, 8, 9
	tString, tArray, tSlice, tStruct     byte = 10, 11, 12, 13
)

// The schemas of the conformance game.
var (
	stateSchema = describe(node{tStruct, 0, 4, ""}, node{tUint32, 0, 0, "Ticks"}, node{tSlice, 0, 0, "Coins"},
		node{tInt32, 0, 0, ""}, node{tUint16, 0, 0, "System"}, node{tString, 0, 0, "Last"})
	configSchema = describe(node{tStruct, 0, 1, ""}, node{tInt32, 0, 0, "Start"})
	addSchema    = describe(node{tStruct, 0, 1, ""}, node{tInt16, 0, 0, "Coins"})
	saySchema    = describe(node{tStruct, 0, 1, ""}, node{tString, 0, 0, "Text"})
)

// A model is the state of the conformance game, computed without the engine.
type model struct {
	ticks  uint32
	coins  []int32
	system uint16
	last   string
}

// sections returns the canonical bytes of each section.
func (m *model) sections() [][]byte {
	le := binary.LittleEndian
	coins := le.AppendUint32(nil, uint32(len(m.coins)))
	for _, c := range m.coins {
		coins = le.AppendUint32(coins, uint32(c))
	}
	return [][]byte{
		le.AppendUint32(nil, m.ticks), coins, le.AppendUint16(nil, m.system),
		append(le.AppendUint32(nil, uint32(len(m.last))), m.last...),
	}
}

func (m *model) state() []byte { return join(m.sections()) }

func (m *model) hash() uint64 {
	b := []byte("samestep root 1\n")
	for _, s := range m.sections() {
		b = binary.LittleEndian.AppendUint64(b, uint64(len(s)))
		b = binary.LittleEndian.AppendUint64(b, xxhash.Sum64(s))
	}
	return xxhash.Sum64(b)
}

// A command is one command of a frame: its kind, payload and effect.
type command struct {
	player  byte
	kind    int
	payload []byte
	step    int64 // of the sequence; 0: 1
	do      func(m *model)
}

// addPayload returns the payload of a command to add coins.
func addPayload(coins int) []byte { return binary.LittleEndian.AppendUint16(nil, uint16(coins)) }

// sayPayload returns the payload of a command to say something.
func sayPayload(text string) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(text))), text...)
}

// adds returns a player's command to add coins.
func adds(player byte, coins int) command {
	return command{player, kindAdd, addPayload(coins), 0, func(m *model) {
		if int(player) < len(m.coins) {
			m.coins[player] += int32(coins)
		}
	}}
}

// says returns a player's command to say something.
func says(player byte, text string) command {
	return command{player, kindSay, sayPayload(text), 0, func(m *model) { m.last = text }}
}

// system is the player number of the coordinator.
const system = 255

// system commands, by kind.
const (
	joined, left, lost, takenOver = 1, 2, 3, 4
	paused, resumed               = 5, 6
	speedSet, inputDelaySet       = 7, 8
)

// systems returns a command of the system.
func systems(kind, value int) command {
	payload := []byte{byte(value)}
	if kind == speedSet || kind == inputDelaySet {
		payload = append(payload, byte(value>>8))
	}
	return command{system, kind, payload, 0, func(m *model) { m.system++ }}
}

// A match is the log of a match of the conformance game, while a builder writes it.
type match struct {
	model
	tick    int64
	last    [256]int64 // sequences
	records [][]byte
}

// A setup is the values of a header. Zero values stand for those of the standard match.
type setup struct {
	protocol                           int
	engine, game, build, id, platform  string
	settings                           array
	config, configSchema, stateSchema_ []byte
	commands                           array
	result                             []byte
	more                               bool // a value more
}

// header returns the values of a header record.
func (s setup) header() array {
	or := func(v, otherwise string) string {
		if v == "" {
			return otherwise
		}
		return v
	}
	bytesOr := func(v, otherwise []byte) []byte {
		if v == nil {
			return otherwise
		}
		return v
	}
	if s.protocol == 0 {
		s.protocol = 1
	}
	if s.settings == nil {
		s.settings = array{1, 2, 50_000, 5, 10, false}
	}
	if s.commands == nil {
		s.commands = array{kindAdd, "add", addSchema, kindSay, "say", saySchema}
	}
	h := array{1, s.protocol, or(s.engine, "samestep/1"), or(s.game, "conform"), or(s.build, "1"),
		[]byte(or(s.id, matchID)), s.platform, s.settings, bytesOr(s.config, []byte{100, 0, 0, 0}),
		bytesOr(s.configSchema, configSchema), bytesOr(s.stateSchema_, stateSchema), s.commands, bytesOr(s.result, []byte{})}
	if s.more {
		h = append(h, 0)
	}
	return h
}

// newMatch returns a match of two seats with its header and first keyframe.
func newMatch(s setup) *match {
	m := &match{model: model{coins: []int32{100, 100}}}
	return m.add(pack(s.header())).keyframe()
}

// add appends records.
func (m *match) add(records ...[]byte) *match { m.records = append(m.records, records...); return m }

// keyframe appends a keyframe of the current state.
func (m *match) keyframe() *match { return m.add(keyframe(m.tick, m.hash(), m.lasts(), m.state())) }

func keyframe(tick int64, hash uint64, lasts array, state []byte) []byte {
	return recordBytes(2, tick, hash, lasts, state)
}

// lasts returns the last sequences in the form of a keyframe.
func (m *match) lasts() array {
	a := array{}
	for p, n := range m.last {
		if n > 0 {
			a = append(a, p, n)
		}
	}
	return a
}

// frame runs and appends the next tick.
func (m *match) frame(commands ...command) *match {
	values := array{3}
	for _, c := range commands {
		step := max(c.step, 1)
		values = append(values, int(c.player), step, c.kind, c.payload)
		m.last[c.player] += step
		if c.do != nil {
			c.do(&m.model)
		}
	}
	m.tick++
	m.ticks++
	return m.add(pack(values))
}

// empty runs and appends a run of empty ticks.
func (m *match) empty(n int) *match {
	m.tick += int64(n)
	m.ticks += uint32(n)
	return m.add(recordBytes(4, n))
}

// checksum appends the checksum of the current state.
func (m *match) checksum() *match { return m.add(recordBytes(5, 0, m.hash())) }

// note appends a note.
func (m *match) note(player int, topic, text string) *match {
	return m.add(recordBytes(64, recordBytes(player, topic, text)))
}

// event appends an event.
func (m *match) event(player int, name, text string) *match {
	return m.add(recordBytes(67, recordBytes(player, name, text)))
}

// end appends the end record.
func (m *match) end() *match { return m.add(recordBytes(7, "over")) }

// file returns the match as a file with one batch.
func (m *match) file() []byte { return newFile().batch(m.records...).b }
