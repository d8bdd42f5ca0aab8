package audience_test

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cluster/audience"
	"github.com/seed-49bee653/samestep/internal/testing/script"
	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// The scripts are a match, mirrors of it and spectators, step by step.
func TestScripts(t *testing.T) {
	script.Run(t, "testdata/*.txt", func(t *testing.T) script.Interpreter { return (&stageplay{t: t}).run })
}

// A stageplay interprets a script.
type stageplay struct {
	t     *testing.T
	w     *world
	guest host.PeerID // the connection of open
	at    *mirror
	out   []string
}

func (m *stageplay) print(format string, args ...any) {
	m.out = append(m.out, fmt.Sprintf(format, args...))
}

func (m *stageplay) run(s *script.Step) string {
	m.out = nil
	if m.w == nil && s.Verb != "match" {
		m.t.Fatal("no match yet")
	}
	verb := map[string]func(*script.Step){
		"match": m.match, "mirror": m.mirror, "watch": m.watch, "pass": m.pass, "see": m.see, "change": m.change, "stall": m.stall,
		"cut": m.cut, "crash": m.crash, "down": m.down, "end": m.end, "stats": m.stats, "fetch": m.fetch, "hold": m.hold,
		"open": m.open, "auth": m.auth, "send": m.send, "raw": m.raw, "close": m.close, "rename": m.rename,
	}[s.Verb]
	if verb == nil {
		m.t.Fatalf("unknown verb %s", s.Verb)
	}
	verb(s)
	return strings.Join(m.out, "\n")
}

func ms(s *script.Step, name string, otherwise uint64) lockstep.Time {
	return lockstep.Time(s.UintOr(name, 32, otherwise)) * lockstep.Millisecond
}

func (m *stageplay) match(s *script.Step) {
	m.w = newWorld(m.t, uint32(s.UintOr("keyframe", 32, 100)), host.Options{SpectatorDelay: lockstep.Tick(s.UintOr("delay", 32, 0)), KeyframeInterval: ms(s, "interval", 0)})
}

func (m *stageplay) mirror(s *script.Step) {
	o := audience.Options{
		Delay: lockstep.Tick(s.UintOr("delay", 32, 0)), DelayTime: ms(s, "delayms", 0), Batch: ms(s, "batch", 0),
		MaxSpectators: int(s.UintOr("spectators", 32, 0)), MaxConnecting: int(s.UintOr("connecting", 32, 0)),
		Lag: lockstep.Tick(s.UintOr("lag", 32, 0)), RingRecords: int(s.UintOr("ring", 32, 0)), MaxStrikes: int(s.UintOr("strikes", 32, 0)),
		SyncTimeout: ms(s, "sync", 0), KeyframeEvery: lockstep.Tick(s.UintOr("every", 32, 0)),
	}
	if token := s.String("token", ""); token != "" {
		o.Authorize = func(got string) error {
			if got != token {
				return fmt.Errorf("another token")
			}
			return nil
		}
	}
	r := m.w.mirror(s.String("as", "a"), s.String("from", "log"), o)
	r.stalled = s.Has("stalled")
	m.w.step()
}

func (m *stageplay) watch(s *script.Step) {
	m.w.viewer(s.String("as", ""), m.w.find(s.String("at", "a")))
}

func (m *stageplay) pass(s *script.Step) { m.w.pass(ms(s, "ms", 0) + ms(s, "s", 0)*1000) }

func (m *stageplay) viewer(s *script.Step) *viewer {
	name := s.String("as", "")
	for _, v := range m.w.viewers {
		if v.name == name {
			return v
		}
	}
	m.t.Fatalf("no viewer %s", name)
	return nil
}

// see tells what a viewer has, and its events since the last time.
func (m *stageplay) see(s *script.Step) {
	v := m.viewer(s)
	for _, e := range v.events {
		m.print("%s: %s", v.name, e)
	}
	v.events = nil
	m.print("%s", m.w.state(v))
}

func (m *stageplay) change(s *script.Step) {
	v := m.viewer(s)
	if s.Has("blocked") {
		v.blocked = s.String("blocked", "") == "true"
	}
	if s.Has("corrupt") {
		if err := v.c.Corrupt("Presses"); err != nil {
			m.print("%v", err)
		}
	}
	if s.Has("leave") {
		v.c.Leave("enough")
	}
	if v.link != nil {
		v.link.due = true
	}
}

// stall makes a mirror take nothing from its source, or everything again.
func (m *stageplay) stall(s *script.Step) {
	r := m.w.find(s.String("at", "a"))
	r.stalled = s.String("on", "true") == "true"
	if r.link != nil {
		r.link.due = true
	}
}

// cut cuts the connection of a mirror to its source.
func (m *stageplay) cut(s *script.Step) {
	r := m.w.find(s.String("at", "a"))
	if l := r.link; l != nil {
		m.w.unlink(l)
		l.lost()
	}
}

func (m *stageplay) crash(s *script.Step) { m.w.crash(int(s.Uint("lose", 16))) }
func (m *stageplay) down(s *script.Step)  { m.w.down = s.String("on", "true") == "true" }

func (m *stageplay) end(s *script.Step) {
	if err := m.w.owner.Admin().End(m.w.now, s.String("reason", "it was fun")); err != nil {
		m.print("%v", err)
	}
}

func (m *stageplay) hold(s *script.Step) {
	m.w.owner.Admin().Hold(m.w.now, host.Wait{Reason: s.String("reason", "")})
}

func (m *stageplay) fetch(s *script.Step) { m.w.fetch(m.w.find(s.String("at", "a"))) }

func (m *stageplay) stats(s *script.Step) {
	r := m.w.find(s.String("at", "a"))
	x := r.a.Stats()
	m.print("tick %d, shown %d, spectators %d, keyframes %d, syncs %d, resyncs %d, strikes %d, cuts %d, rewinds %d, desyncs %d, offences %d",
		x.Tick, x.Shown, x.Spectators, x.Keyframes, x.Syncs, x.Resyncs, x.Strikes, x.Cuts, x.Rewinds, x.Desyncs, x.Offences)
	if s.Has("wants") {
		m.print("wants a keyframe: %v", r.a.Ready().Keyframe)
	}
}

// open opens a connection that the script drives.
func (m *stageplay) open(s *script.Step) {
	if m.at != nil && !s.Has("keep") {
		m.at.a.Disconnect(m.w.now, m.guest)
	}
	m.at = m.w.find(s.String("at", "a"))
	id, ok := m.at.a.Connect(m.w.now, s.String("from", "1"))
	if !ok {
		m.print("no room")
		return
	}
	m.guest = id
	m.read()
}

// auth identifies the connection of open. Arguments falsify the identity.
func (m *stageplay) auth(s *script.Step) {
	a := *protocol.NewAuth(m.w.game)
	a.Token, a.Build = s.String("token", ""), s.String("build", a.Build)
	a.StateSchema, a.SelfTest.Integers, a.SelfTest.Game = s.UintOr("state", 64, a.StateSchema), s.UintOr("integers", 64, a.SelfTest.Integers), s.UintOr("game", 64, 0)
	m.give(testgame.Message(&protocol.Message{Kind: protocol.KindAuth, Auth: &a}))
}

func (m *stageplay) send(s *script.Step) {
	msg := map[string]protocol.Message{
		"ping":     {Kind: protocol.KindPing, Nonce: 7},
		"pong":     {Kind: protocol.KindPong, Nonce: s.UintOr("nonce", 64, 1)},
		"chat":     {Kind: protocol.KindChat, Text: "hello"},
		"leave":    {Kind: protocol.KindLeave},
		"ready":    {Kind: protocol.KindReady, Ready: true},
		"command":  {Kind: protocol.KindCommand, Sequence: 1, Command: 1, Bytes: []byte{0}},
		"sync":     {Kind: protocol.KindStateSyncRequest},
		"closing":  {Kind: protocol.KindClosing},
		"ack":      {Kind: protocol.KindAck, Position: protocol.Position(s.UintOr("position", 64, 0)), Tick: lockstep.Tick(s.UintOr("tick", 32, 0))},
		"checksum": {Kind: protocol.KindChecksum, Tick: lockstep.Tick(s.UintOr("tick", 32, 0)), Hash: s.UintOr("hash", 64, 0)},
		"state":    {Kind: protocol.KindState, Tick: 1, Total: 2, Bytes: []byte{1, 2}},
	}[s.String("what", "")]
	for range s.UintOr("times", 16, 1) {
		m.at.a.Receive(m.w.now, m.guest, testgame.Message(&msg))
	}
	m.read()
}

func (m *stageplay) raw(s *script.Step) {
	b, err := hex.DecodeString(s.String("hex", ""))
	if err != nil {
		m.t.Fatal(err)
	}
	m.give(append(b, make([]byte, s.UintOr("zeros", 32, 0))...))
}

func (m *stageplay) close(*script.Step) { m.at.a.Disconnect(m.w.now, m.guest) }

func (m *stageplay) rename(s *script.Step) {
	m.w.header.Match[0]++
	m.w.log = nil
	game := m.w.game
	m.w.options.Bots = nil
	h, err := host.New(game, m.w.header, m.w.options)
	if err != nil {
		m.t.Fatal(err)
	}
	for _, r := range m.w.mirrors {
		if r.source == endpoint(m.w.owner) {
			r.source = h
		}
	}
	m.w.owner, m.w.ownerNext = h, 0
	m.cut(s)
}

func (m *stageplay) give(b []byte) {
	m.at.a.Receive(m.w.now, m.guest, b)
	m.read()
}

// read prints what the connection of open gets: records as their number.
func (m *stageplay) read() {
	m.at.a.Ready()
	var r protocol.Reader
	var msg protocol.Message
	records := 0
	for b := m.at.a.Send(m.guest, nil); len(b) > 0; b = m.at.a.Send(m.guest, nil) {
		for len(b) > 0 {
			if protocol.IsRecord(b) {
				records++
				break // the rest are records, too, or the closing
			}
			rest, err := r.Read(&msg, b)
			if err != nil {
				m.t.Fatal(err)
			}
			b = rest
			switch msg.Kind {
			case protocol.KindWelcome:
				m.print("welcome as %d, tick %d", msg.Welcome.Seat, msg.Welcome.Tick)
			case protocol.KindStateSync:
				m.print("state_sync of tick %d at position %d: %d bytes at %d of %d", msg.Tick, msg.Position, len(msg.Bytes), msg.Offset, msg.Total)
			case protocol.KindClosing:
				m.print("closing %v: %s, retry after %d ms", protocol.CloseCode(msg.Code), msg.Text, msg.RetryMS)
			case protocol.KindError:
				m.print("error %v: %s %s", protocol.ErrorCode(msg.Code), msg.Text, msg.Field)
			default:
				m.print("%v", msg.Kind)
			}
		}
	}
	if records > 0 {
		m.print("records")
	}
	m.out = counted(m.out)
	if err := m.at.a.CheckBounds(1 << 10); err != nil {
		m.t.Fatal(err)
	}
}

// counted writes repeated lines once, with their number.
func counted(lines []string) (out []string) {
	for i := 0; i < len(lines); {
		n := i + 1
		for n < len(lines) && lines[n] == lines[i] {
			n++
		}
		if out = append(out, lines[i]); n > i+3 {
			out[len(out)-1] += fmt.Sprintf(" (%d times)", n-i)
		} else {
			out = append(out, lines[i+1:n]...)
		}
		i = n
	}
	return out
}
