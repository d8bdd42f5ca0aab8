package conformance

import (
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/server"
)

// A stage is a Host in virtual time, and the transcript of what it gets and
// sends. Time goes in whole milliseconds: what the host has to do in between it
// does at the next one.
type stage struct {
	t        *Transcript
	now      int64 // milliseconds
	host     *host.Host
	next     lockstep.Time // when the host has something to do
	records  [][]byte      // the log
	sessions byte          // drawn so far: the n-th has bytes of n
	conns    []host.PeerID
	pending  []Step // sent by the host, and not delivered yet
}

// newStage returns a stage with a match that has just begun.
func newStage(t *Transcript) (*stage, error) {
	s := &stage{t: t}
	m := t.Match
	var id lockstep.MatchID
	copy(id[:], matchID)
	h, err := s.game().NewHeader(id, lockstep.Settings{
		Seed: m.Seed, Players: m.Players, TickMicros: m.TickMicros, CheckEvery: m.CheckEvery, KeyframeEvery: m.KeyframeEvery,
	}, &config{m.Start})
	if err != nil {
		return nil, err
	}
	h.Platform, h.Sources = "conformance", ""
	s.host, err = host.New(s.game(), h, s.options())
	if err == nil {
		s.settle()
	}
	return s, err
}

// game returns the game, with the limit of the transcript.
func (s *stage) game() *lockstep.Game {
	if s.t.Host.Views != "" {
		return lockstep.MustGame(ViewRules())
	}
	n := s.t.Host.AddsPerSecond
	if n == 0 {
		return game()
	}
	rules := Rules()
	rules.Commands[0] = rules.Commands[0].Limit(n, lockstep.Second)
	return lockstep.MustGame(rules)
}

// substitute adds 1 in each tick.
func substitute(lockstep.Player) lockstep.Bot {
	return func(*lockstep.Simulation) []any { return []any{&add{1}} }
}

func (s *stage) options() host.Options {
	p := &s.t.Host
	ms := func(n int64) lockstep.Time { return lockstep.Time(n) * lockstep.Millisecond }
	o := host.Options{
		Authorize: s.authorize,
		Random: func(b []byte) {
			s.sessions++
			for i := range b {
				b[i] = s.sessions
			}
		},
		Relay: p.Relay, AnonymousSpectators: p.AnonymousSpectators, SpectatorChat: p.SpectatorChat, LeaveAfterGrace: p.LeaveAfterGrace,
		SpectatorDelay: lockstep.Tick(p.SpectatorDelayTicks), Lag: lockstep.Tick(p.LagTicks), RingRecords: p.RingRecords,
		MaxSpectators: p.MaxSpectators, MaxConnecting: p.MaxConnecting, MaxPerTick: p.MaxPerTick, Start: host.StartPolicy{Players: p.StartPlayers, Ready: p.StartReady, Countdown: lockstep.Time(p.StartCountdownMS) * lockstep.Millisecond},
		SyncBytesPerTick: p.SyncBytesPerTick, Grace: ms(p.GraceMS), SyncTimeout: ms(p.SyncMS),
		Wait: host.WaitPolicy{Bound: ms(p.WaitMS)}, Slow: host.SlowPolicy{Percent: p.SlowPercent},
		Views:  host.ViewPolicy{Only: p.Views == "only"},
		Desync: map[string]host.DesyncPolicy{"log": host.LogDesynced, "remove": host.RemoveDesynced}[p.Desync],
	}
	if p.BytesRate > 0 {
		o.Rates.Bytes = host.Rate{N: p.BytesRate, Per: lockstep.Second, Burst: p.BytesBurst}
	}
	if p.Substitute {
		o.Substitute = substitute
	}
	o.Inactive = host.InactivePolicy{After: -1}
	if p.InactiveMS > 0 {
		o.Inactive = host.InactivePolicy{After: ms(p.InactiveMS), Then: host.TakeOverInactive}
	}
	if p.Evidence {
		o.Evidence = true
	}
	return o
}

// authorize knows the tokens of the transcript, and those of guests.
func (s *stage) authorize(token string) (host.Grant, error) {
	for _, k := range s.t.Tokens {
		if k.Token != token {
			continue
		}
		g := host.Grant{
			Role: map[string]protocol.Role{"player": protocol.Seated, "admin": protocol.Admin}[k.Role],
			Seat: host.AnySeat, Subject: token, Name: k.Name,
		}
		if k.Seat != nil {
			g.Seat = lockstep.Player(*k.Seat)
		}
		return g, nil
	}
	return server.Guests{}.Authorize(token, "")
}

func (s *stage) time() lockstep.Time { return lockstep.Time(s.now) * lockstep.Millisecond }

// settle lets the host do what is due, and takes what it has to send.
func (s *stage) settle() {
	s.collect()
	for range 100 {
		if s.next > s.time() {
			return
		}
		s.host.Advance(s.time())
		s.collect()
	}
}

// collect takes what the host has for the log, and what it has to send into the transcript.
func (s *stage) collect() {
	for {
		r := s.host.Ready()
		if s.next = r.Next; r.Empty() {
			return
		}
		for _, record := range r.Records {
			s.records = append(s.records, slices.Clone(record))
		}
		s.host.Persisted(s.time(), r.Position)
		for _, id := range r.Peers {
			s.collectFrom(id, slices.Index(s.conns, id)+1)
		}
	}
}

func (s *stage) collectFrom(id host.PeerID, conn int) {
	for {
		b := s.host.Send(id, nil, protocol.MaxServerMessage)
		if len(b) == 0 {
			break
		}
		s.sent(s.step("server", Step{Conn: conn, Hex: hex.EncodeToString(b), Says: contents(b)}))
	}
	if code, _, closed := s.host.Closed(id); closed {
		s.host.Disconnect(s.time(), id)
		s.conns[conn-1] = 0
		s.sent(s.step("server", Step{Conn: conn, Do: "close", About: code.String()}))
	}
}

func (s *stage) sent(step Step) { s.pending = append(s.pending, step) }

// step notes something that happens now.
func (s *stage) step(from string, step Step) Step {
	step.AtMS, step.From = s.now, from
	s.t.Steps = append(s.t.Steps, step)
	return step
}

// pass lets time pass up to a moment, or up to something that the host has sent.
// It reports false when it has come to the moment.
func (s *stage) pass(until int64) bool {
	for len(s.pending) == 0 {
		next := ceilMS(s.next)
		if next > until {
			s.now = max(s.now, until)
			return false
		}
		s.now = max(s.now, next)
		s.settle()
	}
	return true
}

func ceilMS(t lockstep.Time) int64 {
	return int64(t/lockstep.Millisecond) + int64(min(1, max(0, t%lockstep.Millisecond))) // t may be the last time of all
}

// input gives the host one step of another side, which has been noted.
func (s *stage) input(step *Step) error {
	defer s.settle()
	if step.From == "operator" {
		return s.operate(step)
	}
	switch {
	case step.Do == "open":
		return s.open(step.Conn)
	case step.Conn < 1 || step.Conn > len(s.conns):
		return fmt.Errorf("conformance: connection %d was not opened", step.Conn)
	case s.conns[step.Conn-1] == 0:
		return nil // closed by the server meanwhile
	case step.Do == "datagram":
		b, err := hex.DecodeString(step.Hex)
		s.host.ReceiveDatagram(s.time(), s.conns[step.Conn-1], b)
		return err
	case step.Do != "":
		s.host.Disconnect(s.time(), s.conns[step.Conn-1])
		s.conns[step.Conn-1] = 0
		return nil
	}
	b, err := hex.DecodeString(step.Hex)
	s.host.Receive(s.time(), s.conns[step.Conn-1], b)
	return err
}

// open connects. A connection without room is closed at once, without a word.
func (s *stage) open(conn int) error {
	if conn != len(s.conns)+1 {
		return fmt.Errorf("conformance: connection %d opened after %d", conn, len(s.conns))
	}
	id, ok := s.host.Connect(s.time(), "")
	s.conns = append(s.conns, id)
	if !ok {
		s.sent(s.step("server", Step{Conn: conn, Do: "close", About: "no room"}))
	}
	return nil
}
