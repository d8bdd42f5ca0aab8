package player_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/script"
	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// The scripts in testdata/client drive a client step by step against a scripted server.
func TestClientScripts(t *testing.T) {
	script.Run(t, "testdata/script/*.txt", func(t *testing.T) script.Interpreter {
		return newStage(t).run
	})
}

// A stage is a client of the bank game, a match, and a clock, all driven by a script.
type stage struct {
	t        *testing.T
	game     *lockstep.Game
	header   *lockstep.Header
	c        *coordinator.Coordinator
	client   *player.Client
	now      lockstep.Time
	records  [][]byte // of the stream, by position
	keyframe []byte   // the latest in the log
	sent     int      // records given to the client
	kept     frozen   // by freeze
	commands []protocol.Message
	out      []string
	writer   protocol.Writer
	quiet    bool // do not print acks, reports and commands
}

func newStage(t *testing.T) *stage {
	return &stage{t: t, now: 1000 * lockstep.Second}
}

func (m *stage) print(format string, args ...any) {
	m.out = append(m.out, fmt.Sprintf(format, args...))
}

// Append is the match's log.
func (m *stage) Append(raw []byte) error {
	if record.KindOf(raw) == record.KindKeyframe {
		m.keyframe = bytes.Clone(raw)
		return nil
	}
	m.records = append(m.records, bytes.Clone(raw))
	return nil
}

func (m *stage) run(s *script.Step) string {
	m.out = nil
	verb := map[string]func(*script.Step){
		"match": m.match, "client": m.begin, "wait": m.wait, "connect": m.connect, "cut": m.cut, "welcome": m.welcome,
		"sync": m.sync, "tick": m.tick, "release": m.release, "stream": m.stream, "submit": m.submit, "answer": m.answer,
		"status": m.status, "closing": m.closing, "error": m.serverError, "corrupt": m.corrupt, "ask": m.ask, "again": m.again, "say": m.say,
		"raw": m.raw, "freeze": m.freeze, "ready": m.ready, "thaw": m.thaw, "leave": m.leave, "chat": m.chat, "system": m.system, "quiet": func(*script.Step) { m.quiet = true },
	}[s.Verb]
	if verb == nil {
		m.t.Fatalf("unknown verb %s", s.Verb)
	}
	verb(s)
	return strings.Join(m.out, "\n")
}

func (m *stage) match(s *script.Step) {
	m.game = lockstep.MustGame(testgame.BankRules())
	settings := lockstep.DefaultSettings(2)
	settings.Seed = 1
	settings.TickMicros = lockstep.TickPeriod(uint16(s.UintOr("rate", 16, 20)))
	settings.CheckEvery = uint16(s.UintOr("check", 16, 5))
	settings.KeyframeEvery = 0
	var err error
	if m.header, err = m.game.NewHeader(lockstep.MatchID{byte(s.UintOr("id", 8, 7))}, settings, &testgame.BankConfig{Start: 100}); err != nil {
		m.t.Fatal(err)
	}
	m.header.Platform, m.header.Sources = "any", "" // the number of bytes is in the script
	m.records, m.quiet = nil, false
	m.c, err = coordinator.New(m.game, m.header, m, coordinator.Options{
		InputDelay: lockstep.Tick(s.UintOr("delay", 16, 2)),
		Referee:    lockstep.FollowerOptions{History: lockstep.HistoryOptions{EveryTick: true, Length: 2048}},
	})
	if err != nil {
		m.t.Fatal(err)
	}
	for p := range lockstep.Player(2) {
		if _, err := m.c.Join(p); err != nil {
			m.t.Fatal(err)
		}
	}
}

func (m *stage) begin(s *script.Step) {
	m.client = player.New(m.game, player.Options{
		Token: "secret", Seed: 1,
		Predict:     lockstep.Tick(s.UintOr("predict", 16, 0)),
		Interpolate: s.Has("interpolate"),
		MaxBacklog:  int(s.UintOr("backlog", 32, 0)),
		MaxState:    int(s.UintOr("maxstate", 32, 0)),
		Pacing:      player.PacingOptions{AsTheyCome: s.Has("unpaced"), Budget: int(s.UintOr("budget", 16, 0))},
		Reconnect:   player.ReconnectPolicy{Attempts: int(s.UintOr("attempts", 16, 0)), Total: lockstep.Time(s.UintOr("total", 32, 0)) * lockstep.Millisecond},
	})
	m.settle()
}

// events prints the client's events, and returns when the client has to be called again.
func (m *stage) events() lockstep.Time {
	r := m.client.Ready()
	for _, e := range r.Events {
		m.print("%s", describeEvent(e, m.now))
	}
	return r.Next
}

// describeEvent prints an event as "Synced{Tick:3}", its times relative to now.
func describeEvent(e any, now lockstep.Time) string {
	name := reflect.TypeOf(e).Name()
	if r, ok := e.(player.Retrying); ok {
		return fmt.Sprintf("%s attempt %d in %d ms", name, r.Attempt, (r.At - now).Milliseconds())
	}
	if r, ok := e.(lockstep.Receipt); ok {
		return fmt.Sprintf("%s of %d: %v", name, r.Sequence, r)
	}
	if d, ok := e.(player.Desynced); ok {
		return fmt.Sprintf("%s at tick %d, sums differ %t, agreed %d, section %q", name, d.Tick, d.Got != d.Want, d.Agreed, d.Section)
	}
	if h, ok := e.(player.Held); ok && h.Reason != "" {
		until := "?"
		if h.Until > 0 {
			until = fmt.Sprint((h.Until - now).Milliseconds())
		}
		return fmt.Sprintf("%s %q for %v, since %d ms, until %s", name, h.Reason, h.Players, (now - h.Since).Milliseconds(), until)
	}
	return fmt.Sprintf("%s%+v", name, e)
}

// settle runs the client until nothing is due, and prints the messages that it sends.
func (m *stage) settle() {
	m.client.Advance(m.now)
	m.events()
	for {
		b := m.client.Send(nil)
		if len(b) == 0 {
			return
		}
		if len(b) > protocol.MaxClientMessage {
			m.t.Fatalf("the client sent %d bytes in one message", len(b))
		}
		m.heard(b)
	}
}

func (m *stage) heard(b []byte) {
	var r protocol.Reader
	for len(b) > 0 {
		var msg protocol.Message
		var err error
		if b, err = r.Read(&msg, b); err != nil {
			m.t.Fatalf("the client sent %x: %v", b, err)
		}
		switch msg.Kind {
		case protocol.KindAuth:
			if !slices.Equal(msg.Auth.Capabilities, []string{protocol.Flight, protocol.Resimulate}) {
				m.t.Errorf("the client can %q", msg.Auth.Capabilities)
			}
			m.print("> auth token %q session %t position %d", msg.Auth.Token, msg.Auth.Session != protocol.SessionToken{}, msg.Auth.Position)
		case protocol.KindCommand:
			msg.Bytes = bytes.Clone(msg.Bytes)
			m.commands = append(m.commands, msg)
			if !m.quiet {
				m.print("> command %d", msg.Sequence)
			}
		case protocol.KindChecksum:
			if !m.quiet {
				own, ok := m.c.Referee().Sum(msg.Tick)
				m.print("> checksum of tick %d, right %t", msg.Tick, ok && own.Hash == msg.Hash)
			}
		case protocol.KindAck:
			if !m.quiet {
				m.print("> ack position %d tick %d", msg.Position, msg.Tick)
			}
		case protocol.KindPing:
		case protocol.KindState:
			m.print("> state of tick %d, %d+%d of %d bytes", msg.Tick, msg.Offset, len(msg.Bytes), msg.Total)
		case protocol.KindFlight:
			m.print("> record of tick %d, %d+%d of %d bytes", msg.Tick, msg.Offset, len(msg.Bytes), msg.Total)
		case protocol.KindResimulated:
			known := "unknown"
			if sum, ok := m.c.Referee().Sum(msg.Tick); ok {
				known = fmt.Sprint(sum.Hash == msg.Hash)
			}
			m.print("> tick %d again at %d ms, right %s, as at first %t, first kept %t, %d sections", msg.Tick, (m.now - 1000*lockstep.Second).Milliseconds(), known, msg.First == msg.Hash, msg.First != 0, len(msg.Sections))
		case protocol.KindPong:
			m.print("> pong %d tick %d", msg.Nonce, msg.Tick)
		case protocol.KindChat:
			m.print("> chat %q", msg.Text)
		case protocol.KindReady:
			m.print("> ready %t", msg.Ready)
		case protocol.KindLeave:
			m.print("> leave %q", msg.Text)
		case protocol.KindStateSyncRequest:
			m.print("> state sync request")
		default:
			m.t.Fatalf("the client sent a message of kind %d", msg.Kind)
		}
	}
}

// wait advances the time in a caller's steps, from one Next to the next. The server answers only pings.
func (m *stage) wait(s *script.Step) {
	until := m.now + lockstep.Time(s.Uint("ms", 32))*lockstep.Millisecond
	for m.now < until {
		if s.Has("alive") {
			m.deliver(m.message(&protocol.Message{Kind: protocol.KindPong, Nonce: math.MaxUint64}))
		}
		m.now = max(m.now, min(m.events(), until))
		m.settle()
		if m.events() <= m.now && m.client.Stage() != player.StageCatchingUp {
			m.now++ // as a timer's grain
		}
	}
}

func (m *stage) connect(*script.Step) {
	m.client.Connected(m.now)
	m.events()
	m.settle()
}

func (m *stage) cut(s *script.Step) {
	m.client.Disconnected(m.now, errors.New(s.String("why", "cut")))
	m.events()
	m.settle()
}

func (m *stage) message(msg *protocol.Message) []byte { return m.writer.Append(nil, msg) }

// deliver gives the client one message.
func (m *stage) deliver(b []byte) {
	err := m.client.Receive(m.now, b)
	m.events()
	if err != nil {
		m.print("receive: %v", err)
	}
	m.settle()
}

func (m *stage) welcome(s *script.Step) {
	w := &protocol.Welcome{
		Seat: lockstep.Player(s.UintOr("seat", 8, 0)), Role: protocol.Role(s.UintOr("role", 8, 1)), Session: protocol.SessionToken{1, byte(m.now >> 8)},
		Tick: m.c.Now(), Position: protocol.Position(s.UintOr("position", 32, uint64(len(m.records)))), Resumed: s.Has("resumed"),
		LastSequence: lockstep.Sequence(s.UintOr("last", 32, 0)), AckEvery: uint16(s.UintOr("ack", 16, 5)), InputDelay: 2, SpeedPercent: uint16(s.UintOr("speed", 16, 100)),
	}
	if w.Role == protocol.Spectator {
		w.Seat, w.Session = lockstep.System, protocol.SessionToken{}
	}
	m.deliver(m.message(&protocol.Message{Kind: protocol.KindWelcome, Welcome: w}))
}

// A frozen is a state to be sent later.
type frozen struct {
	bytes    []byte
	tick     lockstep.Tick
	position int
}

// freeze keeps the present state, as a server keeps one to share it.
func (m *stage) freeze(*script.Step) { m.kept = frozen{m.keyframeNow(), m.c.Now(), len(m.records)} }

// thaw sends the kept state and then the records after it.
func (m *stage) thaw(*script.Step) {
	k := &m.kept
	m.deliver(m.message(&protocol.Message{
		Kind: protocol.KindStateSync, Position: protocol.Position(k.position), Tick: k.tick, Total: uint32(len(k.bytes)), Bytes: k.bytes,
	}))
	m.sent = k.position
}

// keyframeNow returns the present state as a joiner gets it.
func (m *stage) keyframeNow() []byte {
	var e record.Encoder
	sim := m.c.Referee().Simulation()
	b := bytes.Clone(e.Header(m.header))
	last := []record.LastSequence{{Player: lockstep.System, Sequence: 2}}
	return append(b, e.Keyframe(sim.Tick(), sim.Hash(), last, sim.AppendState(nil))...)
}

// sync sends the present state; "of" bytes of it, or all.
func (m *stage) sync(s *script.Step) {
	var e record.Encoder
	sim := m.c.Referee().Simulation()
	b := bytes.Clone(e.Header(m.header))
	state := sim.AppendState(nil)
	hash := sim.Hash()
	if s.Has("bad") {
		hash++
	}
	if s.Has("short") {
		state = state[:len(state)-1]
	}
	last := []record.LastSequence{{Player: lockstep.System, Sequence: 2}}
	if m.c.Now() == 0 {
		last = nil
	}
	b = append(b, e.Keyframe(sim.Tick(), hash, last, state)...)
	total := len(b)
	chunk := int(s.UintOr("chunk", 32, protocol.MaxChunk))
	for from := int(s.UintOr("from", 32, 0)); from < min(total, int(s.UintOr("of", 32, math.MaxInt32))); from += chunk {
		m.deliver(m.message(&protocol.Message{
			Kind: protocol.KindStateSync, Position: protocol.Position(len(m.records)), Tick: lockstep.Tick(s.UintOr("tick", 32, uint64(sim.Tick()))),
			Offset: uint32(from), Total: uint32(total), Bytes: b[from:min(total, from+chunk)],
		}))
	}
	m.sent = len(m.records)
}

// tick seals n ticks and sends their records, one message for each tick, ms apart. With hold they wait until release
// sends them at once.
func (m *stage) tick(s *script.Step) {
	for range s.UintOr("n", 16, 1) {
		if _, err := m.c.Tick(); err != nil {
			m.t.Fatal(err)
		}
		if s.Has("hold") {
			continue
		}
		m.send()
		if ms := lockstep.Time(s.UintOr("ms", 16, 0)); ms > 0 {
			until := m.now + ms*lockstep.Millisecond
			for m.now < until {
				m.now = max(m.now+1, min(m.events(), until))
				m.settle()
			}
		}
	}
}

// send gives the client its pending records.
func (m *stage) send() {
	var b []byte
	for ; m.sent < len(m.records); m.sent++ {
		b = append(b, m.records[m.sent]...)
	}
	m.deliver(b)
}

func (m *stage) release(*script.Step) { m.send() }

// stream sets the position of the next record.
func (m *stage) stream(s *script.Step) { m.sent = int(s.Uint("from", 32)) }

func (m *stage) submit(s *script.Step) {
	times := s.UintOr("times", 16, 1)
	for i := range times {
		seq, err := m.client.Submit(&testgame.Earn{Coins: uint16(s.UintOr("earn", 16, 1))})
		if err != nil {
			m.print("%v", err)
			return
		}
		if i == 0 || i == times-1 {
			m.print("sequence %d", seq)
		}
	}
	m.settle()
}

// answer lets the server decide the received commands. With lose it sends no receipts.
func (m *stage) answer(s *script.Step) {
	for _, cmd := range m.commands {
		r := m.c.Submit(0, cmd.Sequence, cmd.Command, cmd.Bytes)
		msg := protocol.Message{Kind: protocol.KindCommandAccepted, Sequence: r.Sequence, Tick: r.Tick}
		if s.Has("reject") {
			msg = protocol.Message{Kind: protocol.KindCommandRejected, Sequence: r.Sequence, Reason: lockstep.Refused, Text: "no"}
		} else if r.Reason != lockstep.Accepted {
			msg = protocol.Message{Kind: protocol.KindCommandRejected, Sequence: r.Sequence, Reason: r.Reason}
		}
		if !s.Has("lose") {
			m.deliver(m.message(&msg))
		}
	}
	m.commands = nil
}

func (m *stage) status(s *script.Step) {
	st := m.client.Status()
	m.print("%v, tick %d of %d, backlog %d, agreed %d, differing %d, unanswered %d", st.Stage, st.Tick, st.ServerTick, st.Backlog, st.Agreed, st.Differing, st.Unanswered)
	if s.Has("more") {
		m.print("seat %d, delay %d, speed %d, predicted %d, round trip %v, error %v", st.Seat, st.InputDelay, st.Speed, st.Predicted, st.RoundTrip > 0, m.client.Err())
	}
	if s.Has("coins") {
		m.print("coins %d", lockstep.World[testgame.Bank](m.client.Simulation()).Piles[0].Coins)
		if p := m.client.Predicted(); p != nil {
			m.print("predicted coins %d", lockstep.World[testgame.Bank](p).Piles[0].Coins)
		}
	}
}

func (m *stage) closing(s *script.Step) {
	m.deliver(m.message(&protocol.Message{Kind: protocol.KindClosing, Code: uint8(s.Uint("code", 8)), Text: "bye", RetryMS: uint32(s.UintOr("retry", 32, 0))}))
}

func (m *stage) serverError(s *script.Step) {
	m.deliver(m.message(&protocol.Message{Kind: protocol.KindError, Code: uint8(s.Uint("code", 8)), Text: "no", Field: s.String("field", "")}))
}

func (m *stage) corrupt(s *script.Step) {
	if err := m.client.Corrupt(s.String("path", "")); err != nil {
		m.print("%v", err)
	}
}

func (m *stage) ask(s *script.Step) {
	m.deliver(m.message(&protocol.Message{Kind: protocol.KindStateRequest, Tick: lockstep.Tick(s.Uint("tick", 32))}))
}

// again asks for ticks to be computed again.
func (m *stage) again(s *script.Step) {
	m.deliver(m.message(&protocol.Message{
		Kind: protocol.KindResimulate, From: lockstep.Tick(s.Uint("from", 32)), Tick: lockstep.Tick(s.Uint("to", 32)), State: s.Has("state"),
	}))
}

// say sends a harmless message, or one that a server must not send.
func (m *stage) ready(s *script.Step) {
	m.client.SetReady(s.String("is", "yes") == "yes")
	m.settle()
}

func (m *stage) say(s *script.Step) {
	msg := &protocol.Message{}
	switch {
	case s.Has("ping"):
		msg.Kind, msg.Nonce = protocol.KindPing, s.Uint("ping", 64)
	case s.Has("report"):
		*msg = protocol.Message{Kind: protocol.KindDesyncReport, Tick: lockstep.Tick(s.Uint("report", 32)), Agreed: 1, Field: "Piles"}
	case s.Has("ack"):
		msg.Kind = protocol.KindAck
	case s.Has("held"):
		*msg = protocol.Message{Kind: protocol.KindHeld, Text: s.String("held", ""), SinceMS: 100, UntilMS: uint32(s.UintOr("until", 32, 0))}
		if s.Has("seat") {
			msg.Seats = []byte{byte(s.Uint("seat", 8))}
		}
	}
	m.deliver(m.message(msg))
}

// raw sends bytes.
func (m *stage) raw(s *script.Step) {
	var b []byte
	if _, err := fmt.Sscanf(s.String("hex", ""), "%x", &b); err != nil {
		m.t.Fatal(err)
	}
	m.deliver(b)
}

func (m *stage) leave(s *script.Step) {
	m.client.Leave(s.String("why", ""))
	m.events()
	m.settle()
}

func (m *stage) chat(s *script.Step) {
	if err := m.client.Chat(s.String("text", "hello")); err != nil {
		m.print("%v", err)
	}
	m.settle()
}

// system puts a System command into the match.
func (m *stage) system(s *script.Step) {
	var err error
	switch {
	case s.Has("pause"):
		_, err = m.c.Pause(1)
	case s.Has("resume"):
		_, err = m.c.Resume(1)
	case s.Has("speed"):
		_, err = m.c.SetSpeed(uint16(s.Uint("speed", 16)))
	case s.Has("delay"):
		_, err = m.c.SetInputDelay(lockstep.Tick(s.Uint("delay", 16)))
	case s.Has("note"):
		for range s.UintOr("times", 8, 1) {
			err = cmp.Or(err, m.c.Note(1, record.TopicChat, s.String("note", "")))
		}
	case s.Has("end"):
		err = m.c.End(s.String("end", ""))
	}
	if err != nil {
		m.t.Fatal(err)
	}
}
