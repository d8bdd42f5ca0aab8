package host_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/script"
	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// The scripts in testdata/script are hosted matches, step by step: every edge of the state machines of a connection and
// of a seat.
func TestHostScripts(t *testing.T) {
	script.Run(t, "testdata/script/*.txt", func(t *testing.T) script.Interpreter {
		return (&hostTable{t: t}).run
	})
}

// A hostTable is a hosted match that a script plays.
type hostTable struct {
	t       *testing.T
	p       *party
	records []string
	dec     record.Decoder
	out     []string
}

func (m *hostTable) print(format string, args ...any) {
	m.out = append(m.out, fmt.Sprintf(format, args...))
}

func (m *hostTable) run(s *script.Step) string {
	m.out = nil
	verb := map[string]func(*script.Step){
		"host": m.host, "connect": m.connect, "open": m.open, "auth": m.auth, "resume": m.resume, "cut": m.cut, "guest": m.change,
		"send": m.send, "raw": m.raw, "command": m.command, "ack": m.ack, "report": m.report, "corrupt": m.corrupt,
		"pass": m.pass, "stall": m.stall, "peers": m.peers, "log": m.log, "admin": m.admin, "evidence": m.evidence, "stats": m.stats,
		"ban": m.ban, "unban": m.unban, "bans": m.bans,
	}[s.Verb]
	if verb == nil {
		m.t.Fatalf("unknown verb %s", s.Verb)
	}
	verb(s)
	if m.p != nil {
		m.p.deliver()
		m.p.flush()
		if err := m.p.h.Info().CheckBounds(1 << 10); err != nil {
			m.print("%v", err)
		}
	}
	return strings.Join(m.out, "\n")
}

func millis(s *script.Step, name string, otherwise uint64) lockstep.Time {
	return lockstep.Time(s.UintOr(name, 32, otherwise)) * lockstep.Millisecond
}

func (m *hostTable) host(s *script.Step) {
	*m = hostTable{t: m.t}
	m.p = newParty(m.t, func(x *lockstep.Settings) {
		x.Players = uint8(s.UintOr("seats", 8, 2))
		x.CheckEvery = uint16(s.UintOr("check", 16, 20))
	}, func(o *host.Options) {
		o.Relay = s.Has("relay")
		o.AnonymousSpectators, o.SpectatorChat = s.Has("anonymous"), s.Has("chat")
		o.KickTime = millis(s, "kick", 0)
		o.Grace, o.LeaveAfterGrace = millis(s, "grace", 0), s.Has("leave")
		o.MaxSpectators = int(s.UintOr("spectators", 16, 0))
		o.MaxConnecting = int(s.UintOr("connecting", 16, 0))
		o.Start = host.StartPolicy{Players: int(s.UintOr("start", 8, 0)), Ready: s.Has("ready"), Countdown: millis(s, "countdown", 0)}
		o.Lag = lockstep.Tick(s.UintOr("lag", 16, 0))
		o.RingRecords = int(s.UintOr("ring", 16, 0))
		o.IdleTimeout = millis(s, "idle", 0)
		o.SyncTimeout = millis(s, "sync", 0)
		o.Wait.Bound = millis(s, "wait", 0)
		o.Slow.Percent = uint16(s.UintOr("slow", 16, 0))
		o.Delay.Max = lockstep.Tick(s.UintOr("delaymax", 16, 0))
		o.Desync = map[string]host.DesyncPolicy{"resync": host.ResyncDesynced, "log": host.LogDesynced, "remove": host.RemoveDesynced}[s.String("desync", "resync")]
		if s.Has("returns") {
			o.Rates.Returns = host.Rate{N: 1, Per: lockstep.Second, Burst: int(s.Uint("returns", 16))}
		}
		if s.Has("commands") {
			o.Rates.Commands = host.Rate{N: int(s.Uint("commands", 16)), Per: lockstep.Second, Burst: int(s.Uint("commands", 16))}
		}
	})
	m.p.print = m.print
	m.p.record = func(record []byte) {
		r, _, err := m.dec.Decode(append([]byte(nil), record...))
		if err != nil {
			m.t.Fatal(err)
		}
		m.records = append(m.records, testgame.RecordText(m.t, m.p.game, r))
	}
	for _, record := range m.p.early {
		m.p.record(record)
	}
}

func (m *hostTable) guest(s *script.Step) *guest {
	name := s.String("as", "")
	for _, g := range m.p.guests {
		if g.name == name {
			return g
		}
	}
	g := m.p.guest(name, "")
	g.addr = s.String("from", "")
	return g
}

func (m *hostTable) open(s *script.Step) {
	if !m.guest(s).open() {
		m.print("no room")
	}
}

// auth authenticates an open connection: as the guest of "like", with its session, or with the token.
func (m *hostTable) auth(s *script.Step) {
	g := m.guest(s)
	g.auth = *protocol.NewAuth(m.p.game)
	g.auth.Token, g.auth.Platform = s.String("token", ""), "test"
	for _, other := range m.p.guests {
		if s.Has("like") && other.name == s.String("like", "") {
			g.auth.Session = other.welcome.Session
		}
	}
	g.send(&protocol.Message{Kind: protocol.KindAuth, Auth: &g.auth})
}

// connect opens a connection with a token. Other arguments falsify the identity.
func (m *hostTable) connect(s *script.Step) {
	g := m.guest(s)
	g.auth = *protocol.NewAuth(m.p.game)
	g.auth.Token, g.auth.Platform = s.String("token", ""), "test"
	g.auth.Protocol = uint32(s.UintOr("protocol", 32, uint64(g.auth.Protocol)))
	g.auth.Engine, g.auth.Game, g.auth.Build = s.String("engine", g.auth.Engine), s.String("game", g.auth.Game), s.String("build", g.auth.Build)
	g.auth.StateSchema = s.UintOr("state", 64, g.auth.StateSchema)
	g.auth.CommandSchema = s.UintOr("schema", 64, g.auth.CommandSchema)
	if !g.connect() {
		m.print("no room")
	}
}

// resume connects with the session of the latest welcome, or with the one that "session" keeps.
func (m *hostTable) resume(s *script.Step) {
	g := m.guest(s)
	g.auth.Token = s.String("token", "")
	g.auth.Session, g.auth.Position = g.welcome.Session, g.position
	if s.Has("of") {
		g.auth.Session[0] = byte(s.Uint("of", 8))
		for i := range g.auth.Session {
			g.auth.Session[i] = g.auth.Session[0]
		}
	}
	g.auth.Position = protocol.Position(s.UintOr("position", 64, uint64(g.auth.Position)))
	if !g.connect() {
		m.print("no room")
	}
}

func (m *hostTable) cut(s *script.Step) { m.guest(s).cut() }

// change changes a guest's behaviour.
func (m *hostTable) change(s *script.Step) {
	g := m.guest(s)
	for name, field := range map[string]*bool{"blocked": &g.blocked, "silent": &g.silent, "lies": &g.lies, "deaf": &g.deaf, "mute": &g.mute, "echoes": &g.echoes, "reticent": &g.reticent, "forges": &g.forges, "still": &g.still} {
		if s.Has(name) {
			*field = s.String(name, "") == "true"
		}
	}
	if s.Has("slowpong") {
		g.pongAfter = millis(s, "slowpong", 0)
	}
	if !g.blocked && g.id != 0 {
		g.pull()
	}
}

func (m *hostTable) send(s *script.Step) {
	g := m.guest(s)
	msg := map[string]protocol.Message{
		"ping":    {Kind: protocol.KindPing, Nonce: 7},
		"chat":    {Kind: protocol.KindChat, Text: s.String("text", "")},
		"leave":   {Kind: protocol.KindLeave, Text: s.String("text", "")},
		"ready":   {Kind: protocol.KindReady, Ready: true},
		"unready": {Kind: protocol.KindReady},
		"sync":    {Kind: protocol.KindStateSyncRequest},
		"auth":    {Kind: protocol.KindAuth, Auth: &g.auth},
		"closing": {Kind: protocol.KindClosing},
		"state":   {Kind: protocol.KindState, Tick: lockstep.Tick(s.UintOr("tick", 32, 0)), Total: 2, Bytes: []byte{1, 2}},
	}[s.String("what", "")]
	for range s.UintOr("times", 16, 1) {
		g.send(&msg)
	}
}

func (m *hostTable) raw(s *script.Step) {
	b, err := hex.DecodeString(s.String("hex", ""))
	if err != nil {
		m.t.Fatal(err)
	}
	if s.Has("zeros") {
		b = make([]byte, s.Uint("zeros", 32))
	}
	m.guest(s).raw(b)
}

func (m *hostTable) command(s *script.Step) {
	g := m.guest(s)
	for range s.UintOr("times", 16, 1) {
		if s.Has("crash") {
			kind, payload := testgame.Encode(m.t, m.p.game, &testgame.Crash{})
			g.sequence++
			g.send(&protocol.Message{Kind: protocol.KindCommand, Sequence: g.sequence, Command: kind, Bytes: payload})
			continue
		}
		if s.Has("seq") {
			g.sequence = lockstep.Sequence(s.Uint("seq", 32)) - 1
		}
		g.command(m.t, uint16(s.UintOr("earn", 16, 1)))
	}
}

func (m *hostTable) ack(s *script.Step) {
	m.guest(s).send(&protocol.Message{Kind: protocol.KindAck, Position: protocol.Position(s.Uint("position", 64)), Tick: lockstep.Tick(s.Uint("tick", 32))})
}

func (m *hostTable) report(s *script.Step) {
	m.guest(s).send(&protocol.Message{Kind: protocol.KindChecksum, Tick: lockstep.Tick(s.Uint("tick", 32)), Hash: s.Uint("root", 64)})
}

// corrupt inverts a bit of a guest's state, or of the referee's.
func (m *hostTable) corrupt(s *script.Step) {
	path := s.String("path", "")
	var err error
	if s.Has("referee") {
		m.p.wrongReferee = int(s.UintOr("wrong", 8, 2))
		err = corrupt(m.p.game, m.p.h.Referee().Simulation(), path)
	} else {
		err = m.guest(s).corrupt(path)
	}
	if err != nil {
		m.t.Fatal(err)
	}
}

func (m *hostTable) pass(s *script.Step) { m.p.pass(millis(s, "ms", 0)) }

// stall stops the clock: Advance is not called until it is over.
func (m *hostTable) stall(s *script.Step) {
	m.p.now += millis(s, "ms", 0)
	before := m.p.h.Now()
	m.p.h.Advance(m.p.now)
	m.p.take()
	m.print("sealed %d at once", m.p.h.Now()-before)
}

func (m *hostTable) peers(*script.Step) {
	for _, info := range m.p.h.Info().Peers() {
		m.print("%s: %v, lag %d", m.p.byID[info.ID].name, info.State, info.Lag)
	}
}

func (m *hostTable) stats(*script.Step) {
	s := m.p.h.Stats()
	m.print("tick %d, skipped %d, %d players, %d spectators, keyframes %d, syncs %d, resyncs %d, resumes %d, offences %d, delay %d",
		s.Tick, s.Skipped, s.Players, s.Spectators, s.SyncKeyframes, s.Syncs, s.Resyncs, s.Resumes, s.Offences, s.InputDelay)
}

// log prints the records since the last log, without empty ticks and checksums.
func (m *hostTable) log(*script.Step) {
	for _, r := range m.records {
		if r != testgame.EmptyTick && !strings.HasPrefix(r, "checksum") && !strings.HasPrefix(r, "keyframe") && !strings.HasPrefix(r, "header") {
			m.print("%s", r)
		}
	}
	m.records = nil
}

func (m *hostTable) admin(s *script.Step) {
	p, h := m.p, m.p.h
	player := lockstep.Player(s.UintOr("p", 8, 0))
	var err error
	switch what := s.String("what", ""); what {
	case "kick":
		if !h.Admin().Kick(p.now, m.guest(s).id, "kicked") {
			err = errors.New("no such peer")
		}
	case "remove":
		_, err = h.Admin().Remove(p.now, player, "removed")
	case "pause":
		err = h.Admin().Pause(p.now, player)
	case "resume":
		err = h.Admin().Resume(p.now, player)
	case "start":
		err = h.Admin().Start(p.now)
	case "keyframe":
		err = h.Admin().Keyframe(p.now)
	case "hold":
		h.Admin().Hold(p.now, host.Wait{Reason: s.String("why", ""), Players: []lockstep.Player{player}, Until: p.now + millis(s, "until", 0)})
	case "speed":
		err = h.Admin().SetSpeed(p.now, uint16(s.Uint("percent", 16)))
	case "delay":
		err = h.Admin().SetInputDelay(p.now, lockstep.Tick(s.Uint("ticks", 16)))
	case "end":
		err = h.Admin().End(p.now, "enough")
	case "shutdown":
		h.Admin().Shutdown(p.now, 3*lockstep.Second)
	case "move":
		h.Admin().Move(p.now, 100*lockstep.Millisecond)
	case "faillog":
		p.failLog = true
	default:
		m.t.Fatalf("unknown %s", what)
	}
	p.take()
	if err != nil {
		m.print("%v", err)
	}
}

// ban bans the player of a seat, a guest's connection, or a subject or an address.
func (m *hostTable) ban(s *script.Step) {
	h, now := m.p.h, m.p.now
	until := lockstep.Time(0)
	if s.Has("ms") {
		until = now + millis(s, "ms", 0)
	}
	reason := s.String("reason", "")
	var err error
	switch {
	case s.Has("p"):
		_, err = h.Bans().AddPlayer(now, lockstep.Player(s.Uint("p", 8)), until, reason)
	case s.Has("as"):
		_, err = h.Bans().AddPeer(now, m.guest(s).id, until, reason)
	default:
		_, err = h.Bans().Add(now, host.Ban{Subject: s.String("subject", ""), Name: s.String("name", ""), Address: s.String("address", ""), Until: until, Reason: reason})
	}
	m.p.take()
	if err != nil {
		m.print("%v", err)
	}
}

func (m *hostTable) unban(s *script.Step) {
	m.print("%t", m.p.h.Bans().Remove(m.p.now, host.Ban{Subject: s.String("subject", ""), Name: s.String("name", ""), Address: s.String("address", "")}))
}

func (m *hostTable) bans(*script.Step) {
	for _, b := range m.p.h.Bans().List(m.p.now) {
		m.print("subject %q, address %q, until %d, %q", b.Subject, b.Address, b.Until/lockstep.Millisecond, b.Reason)
	}
}

// evidence prints the evidence collected since the last call.
func (m *hostTable) evidence(*script.Step) {
	for _, e := range m.p.evidence {
		m.print("%v", &e.Report)
		for _, x := range e.Exhibits {
			differ := "no state of the player"
			if x.Player != nil {
				d, err := m.p.game.StateSchema().Diff(x.Referee, x.Player, 4)
				differ = fmt.Sprintf("%v %v", d, err)
			}
			m.print("  tick %d: referee has %d bytes; %s", x.Tick, len(x.Referee), differ)
		}
		for _, c := range e.Commands {
			m.print("  tick %d: %d#%d kind %d", c.Tick, c.Player, c.Sequence, c.Kind)
		}
		for _, w := range e.Participants {
			m.print("  player %d: %s, build %s on %s", w.Player, w.Name, w.Build, w.Platform)
		}
	}
	m.p.evidence = nil
}
