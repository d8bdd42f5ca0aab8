package coordinator_test

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/internal/testing/script"
	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// The scripts in testdata/script are matches of the bank game, step by step.
func TestScripts(t *testing.T) {
	script.Run(t, "testdata/script/*.txt", func(t *testing.T) script.Interpreter {
		return (&table{t: t}).run
	})
}

// A table is a match of the bank game that a script plays.
type table struct {
	t         *testing.T
	game      *lockstep.Game
	header    *lockstep.Header
	c         *coordinator.Coordinator
	tail      record.Tail
	names     []string // of the followers
	followers []*lockstep.Follower
	out       []string // printed by the step
	records   []string // since the last "log"
	dec       record.Decoder
	failLog   bool
}

// Append is the match's log.
func (m *table) Append(record []byte) error {
	if m.failLog {
		return testgame.ErrDisk
	}
	r, rest, err := m.dec.Decode(record)
	if err != nil || len(rest) > 0 {
		m.t.Fatalf("the coordinator wrote %x: %v, %d bytes left", record, err, len(rest))
	}
	m.records = append(m.records, testgame.RecordText(m.t, m.game, r))
	for i, f := range m.followers {
		if err := f.Append(record); err != nil {
			m.print("%s: %v", m.names[i], err)
		}
	}
	return m.tail.Append(record)
}

func (m *table) print(format string, args ...any) {
	m.out = append(m.out, fmt.Sprintf(format, args...))
}

func (m *table) run(s *script.Step) string {
	m.out = nil
	verb := map[string]func(*script.Step){
		"match": m.match, "submit": m.submit, "tick": m.tick, "report": m.report, "log": m.log, "note": m.note, "end": m.end,
		"follow": m.follow, "followers": m.compare, "corrupt": m.corrupt, "advance": m.advance, "state": m.state, "fail": m.fail,
	}[s.Verb]
	switch {
	case verb != nil:
		verb(s)
	default:
		m.roster(s)
	}
	return strings.Join(m.out, "\n")
}

func (m *table) match(s *script.Step) {
	*m = table{t: m.t, failLog: m.failLog}
	rules := testgame.FaultyBankRules(s.String("fault", ""))
	m.game = lockstep.MustGame(rules)
	settings := lockstep.DefaultSettings(uint8(s.UintOr("seats", 8, 3)))
	settings.Seed = 1
	settings.CheckEvery = uint16(s.UintOr("check", 16, 5))
	settings.KeyframeEvery = uint32(s.UintOr("keyframe", 32, 20))
	var err error
	// The header is that of the sound rules: NewHeader runs New and Derive itself.
	m.header, err = lockstep.MustGame(testgame.BankRules()).NewHeader(lockstep.MatchID{7}, settings, &testgame.BankConfig{Start: 100})
	if err != nil {
		m.t.Fatal(err)
	}
	m.c, err = coordinator.New(m.game, m.header, m, coordinator.Options{
		InputDelay:      lockstep.Tick(s.UintOr("delay", 32, 1)),
		MaxPerTick:      int(s.UintOr("max", 16, 0)),
		MaxBytesPerTick: int(s.UintOr("bytes", 16, 0)),
		Relay:           s.Has("relay"),
	})
	if err != nil {
		m.print("%v", err)
		return
	}
	for p := range lockstep.Player(s.UintOr("joined", 8, 0)) {
		if _, err := m.c.Join(p); err != nil {
			m.t.Fatal(err)
		}
	}
}

// roster runs the verbs that write a command of System.
func (m *table) roster(s *script.Step) {
	byPlayer := map[string]func(lockstep.Player) (lockstep.Tick, error){
		"join": m.c.Join, "leave": m.c.Leave, "lose": m.c.Lose, "return": m.c.Return,
		"takeover": m.c.TakeOver, "pause": m.c.Pause, "resume": m.c.Resume,
	}
	var tick lockstep.Tick
	var err error
	switch f := byPlayer[s.Verb]; {
	case f != nil:
		tick, err = f(lockstep.Player(s.Uint("p", 8)))
	case s.Verb == "speed":
		tick, err = m.c.SetSpeed(uint16(s.Uint("percent", 16)))
	case s.Verb == "delay":
		tick, err = m.c.SetInputDelay(lockstep.Tick(s.Uint("ticks", 32)))
	default:
		m.t.Fatalf("unknown verb %s", s.Verb)
	}
	m.desyncs()
	if err != nil {
		m.print("%v", err)
		return
	}
	m.print("tick %d", tick)
}

// submit submits one command, or with times=n that many with consecutive sequences.
func (m *table) submit(s *script.Step) {
	p, seq := lockstep.Player(s.Uint("p", 8)), lockstep.Sequence(s.Uint("seq", 32))
	var kind lockstep.Kind
	var payload []byte
	var err error
	switch {
	case s.Has("kind"):
		kind = lockstep.Kind(s.Uint("kind", 16))
		payload, err = hex.DecodeString(s.String("raw", ""))
	case s.Has("zeros"):
		kind, payload = 1, make([]byte, s.Uint("zeros", 32))
	case s.Has("give"):
		kind, payload, err = m.game.NewPayloads().Encode(&testgame.Give{To: lockstep.Player(s.Uint("to", 8)), Coins: []uint16{uint16(s.Uint("give", 16))}})
	case s.Has("crash"):
		kind, payload, err = m.game.NewPayloads().Encode(&testgame.Crash{})
	default:
		kind, payload, err = m.game.NewPayloads().Encode(&testgame.Earn{Coins: uint16(s.UintOr("earn", 16, 1))})
	}
	if err != nil {
		m.t.Fatal(err)
	}
	for range s.UintOr("times", 16, 1) {
		m.print("%v", m.c.Submit(p, seq, kind, payload))
		seq++
	}
}

func (m *table) report(s *script.Step) {
	p, t := lockstep.Player(s.Uint("p", 8)), lockstep.Tick(s.Uint("tick", 32))
	var sum checksum.Sum
	if s.Has("root") {
		sum.Hash = s.Uint("root", 64)
	} else if own, ok := m.c.Referee().Sum(t); ok {
		sum = own.Clone()
	}
	if name := s.String("wrong", ""); name != "" {
		sum.Hash++
		for i := range m.game.StateSchema().NumSections() {
			if m.game.StateSchema().SectionName(i) == name {
				sum.Sections[i]++
			}
		}
	}
	err := m.c.Report(p, t, &sum)
	m.desyncs()
	if err != nil {
		m.print("%v", err)
	}
}

// desyncs prints the desync reports of the last step.
func (m *table) desyncs() {
	for _, r := range m.c.Desyncs() {
		m.print("%v", r)
		for _, g := range r.Groups {
			who := fmt.Sprint(g.Players)
			if g.Referee {
				who = "referee " + who
			}
			m.print("  %s", who)
		}
	}
}

func (m *table) follow(s *script.Step) {
	f := m.game.NewFollower(lockstep.FollowerOptions{})
	if err := m.tail.Join(f); err != nil {
		m.print("%v", err)
	}
	m.names, m.followers = append(m.names, s.String("name", "")), append(m.followers, f)
	m.print("at tick %d", f.Tick())
}

// compare compares the followers with the referee.
func (m *table) compare(*script.Step) {
	for i, f := range m.followers {
		same := "the same state as the referee"
		if f.Simulation().Hash() != m.c.Referee().Simulation().Hash() {
			same = "another state than the referee"
		}
		m.print("%s: tick %d, %s, %d compared, ended %t", m.names[i], f.Tick(), same, f.Checked(), f.Ended())
	}
}

func (m *table) follower(s *script.Step) *lockstep.Follower {
	name := s.String("name", "")
	for i, n := range m.names {
		if n == name {
			return m.followers[i]
		}
	}
	m.t.Fatalf("no follower %q", name)
	return nil
}

// corrupt inverts a bit of a follower's state.
func (m *table) corrupt(s *script.Step) {
	f := m.follower(s)
	b := f.Simulation().AppendState(nil)
	v, err := m.game.StateSchema().Lookup(b, s.String("path", ""))
	if err != nil || !v.Flip() {
		m.t.Fatalf("cannot corrupt: %v", err)
	}
	if err := f.Simulation().Restore(f.Tick(), b); err != nil {
		m.t.Fatal(err)
	}
}

// advance gives a follower an empty frame of any tick.
func (m *table) advance(s *script.Step) {
	err := m.follower(s).Advance(&lockstep.Frame{Tick: lockstep.Tick(s.Uint("tick", 32))})
	m.print("%v", err)
}

func (m *table) state(s *script.Step) {
	b := m.c.Referee().Simulation().AppendState(nil)
	v, err := m.game.StateSchema().Lookup(b, s.String("path", ""))
	if err != nil {
		m.t.Fatal(err)
	}
	m.print("%v", v)
}

func (m *table) note(s *script.Step) {
	if err := m.c.Note(lockstep.Player(s.Uint("p", 8)), s.String("topic", "chat"), s.String("text", "")); err != nil {
		m.print("%v", err)
	}
}

func (m *table) end(s *script.Step) {
	if err := m.c.End(s.String("reason", "")); err != nil {
		m.print("%v", err)
	}
}

// fail makes the log fail from now on.
func (m *table) fail(*script.Step) { m.failLog = true }

// log prints the records since the last log.
func (m *table) log(*script.Step) {
	for i, n := 0, len(m.records); i < n; i++ {
		first := i
		for i+1 < n && m.records[i+1] == testgame.EmptyTick && m.records[first] == testgame.EmptyTick {
			i++
		}
		m.print("%s", m.records[i])
		if i > first {
			m.out[len(m.out)-1] += fmt.Sprintf(", %d times", i-first+1)
		}
	}
	m.records = nil
}

// tick seals one tick, or n. Empty ones in a row become one line.
func (m *table) tick(s *script.Step) {
	out := m.out
	var from, to lockstep.Tick // empty ticks not printed yet
	flush := func() {
		if from == to && from > 0 {
			out = append(out, fmt.Sprintf("tick %d", from))
		} else if from > 0 {
			out = append(out, fmt.Sprintf("ticks %d to %d", from, to))
		}
		from = 0
	}
	for range s.UintOr("n", 16, 1) {
		m.out = nil // what the match says meanwhile
		f, err := m.c.Tick()
		m.desyncs()
		switch {
		case err != nil:
			m.print("%v", err)
		case f == nil:
			m.print("paused after tick %d", m.c.Now())
		case len(f.Commands) > 0:
			m.print("%s", testgame.FrameText(m.t, m.game, f))
		case len(m.out) == 0:
			if to = f.Tick; from == 0 {
				from = to
			}
		}
		if len(m.out) > 0 {
			flush()
			out = append(out, m.out...)
		}
	}
	flush()
	m.out = out
}
