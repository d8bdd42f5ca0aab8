// Package local plays a match in one process, without sockets: one person against bots, bots alone, and tests. The match
// is the same as on a server. It has the same Host and the same Client, and its log is a replay.
//
//	match, err := local.New(game, &config, local.Options{Bots: []lockstep.Bot{nil, bot}})
//	for each picture {
//		match.Advance(now)
//		match.Client().Submit(&command)
//		match.Client().Render(draw)
//	}
//
// A Match has no clock, goroutine or file, and belongs to one goroutine.
package local

import (
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// Options are the choices of a local match. The zero value is one person alone.
type Options struct {
	Match    lockstep.MatchID
	Settings lockstep.Settings // by default those of DefaultSettings with a seat for each of Bots, or one. Draw the seed

	// Bots play seats, by seat. The person has the first seat where it is nil, and watches if there is none.
	Bots []lockstep.Bot

	Name   string              // of the person
	Log    lockstep.Log        // takes the records, such as a *replay.Writer; nil keeps none
	Handle func(event any)     // is called with the events of the person's Client; nil disables it
	Client player.Options      // of the person's Client; Token is ignored
	Host   func(*host.Options) // changes the options of the Host; nil changes none
}

// A Match is a match that is played in this process.
type Match struct {
	options Options
	host    *host.Host
	client  *player.Client
	peer    host.PeerID
	buf     []byte
	err     error // of the log
}

// New begins a match. config is a pointer to the game's configuration. The clock starts with the first call of
// [Match.Advance].
func New(g *lockstep.Game, config any, o Options) (*Match, error) {
	if o.Settings.Players == 0 {
		seed := o.Settings.Seed
		o.Settings = lockstep.DefaultSettings(uint8(min(max(1, len(o.Bots)), lockstep.MaxPlayers)))
		o.Settings.Seed = seed
	}
	header, err := g.NewHeader(o.Match, o.Settings, config)
	if err != nil {
		return nil, err
	}
	grant := host.Grant{Role: protocol.Seated, Seat: host.AnySeat, Subject: "person", Name: o.Name}
	if len(o.Bots) == int(o.Settings.Players) && !slices.ContainsFunc(o.Bots, func(b lockstep.Bot) bool { return b == nil }) {
		grant.Role = protocol.Spectator
	}
	ho := host.Options{Bots: o.Bots}
	if grant.Role == protocol.Seated {
		ho.Start.Players = 1
	}
	if o.Host != nil {
		o.Host(&ho)
	}
	ho.Authorize = func(string) (host.Grant, error) { return grant, nil }
	if ho.Random == nil {
		ho.Random = func(b []byte) { copy(b, "no socket reaches this match") } // of session tokens
	}
	m := &Match{options: o}
	if m.host, err = host.New(g, header, ho); err != nil {
		return nil, err
	}
	o.Client.Token = "person"
	m.client = player.New(g, o.Client)
	return m, nil
}

// Client returns the person's side of the match: its state, commands, views and events.
func (m *Match) Client() *player.Client { return m.client }

// Host returns the server's side of the match, with its pauses, speed and end.
func (m *Match) Host() *host.Host { return m.host }

// Advance plays up to a time. The error is that of the log, or of a match that cannot go on. It is nil when the match has
// ended.
func (m *Match) Advance(now lockstep.Time) error {
	m.host.Advance(now)
	m.client.Advance(now)
	for moved := true; moved && m.err == nil; {
		moved = m.serve(now)
		moved = m.play(now) || moved
	}
	if err := m.host.Err(); m.err == nil && err != coordinator.ErrEnded {
		return err
	}
	return m.err
}

// serve moves what the Host has for the log and for the Client.
func (m *Match) serve(now lockstep.Time) (moved bool) {
	r := m.host.Ready()
	if !r.Empty() {
		moved = true
		if m.options.Log != nil {
			if m.err = r.AppendTo(m.options.Log); m.err != nil {
				m.err = fmt.Errorf("local: the log: %w", m.err)
				m.host.Fail(now, m.err)
				return true
			}
		}
		m.host.Persisted(now, r.Position)
	}
	for {
		m.buf = m.host.Send(m.peer, m.buf[:0], protocol.MaxServerMessage)
		if len(m.buf) == 0 {
			break
		}
		moved = true
		_ = m.client.Receive(now, m.buf) // a bad message ends the connection, which the Client's events say
	}
	if _, reason, closed := m.host.Closed(m.peer); closed {
		m.host.Disconnect(now, m.peer)
		m.client.Disconnected(now, fmt.Errorf("local: %s", reason))
		m.peer = 0
	}
	return moved
}

// play moves what the Client has for the Host and for its owner.
func (m *Match) play(now lockstep.Time) (moved bool) {
	switch m.client.Stage() {
	case player.StageDialing:
		var ok bool
		if m.peer, ok = m.host.Connect(now, "here"); ok {
			m.client.Connected(now)
		} else {
			m.client.Disconnected(now, fmt.Errorf("local: the host has no room"))
		}
		moved = true
	case player.StageClosing:
		m.host.Disconnect(now, m.peer)
		m.client.Disconnected(now, nil)
		m.peer, moved = 0, true
	}
	for {
		m.buf = m.client.Send(m.buf[:0])
		if len(m.buf) == 0 {
			break
		}
		m.host.Receive(now, m.peer, m.buf)
		moved = true
	}
	for r := m.client.Ready(); len(r.Events) > 0; r = m.client.Ready() {
		for _, e := range r.Events {
			if m.options.Handle != nil {
				m.options.Handle(e)
			}
		}
	}
	return moved
}
