//go:build !js

package compat

import (
	"errors"
	"fmt"
	"sync"

	"github.com/coder/websocket"

	"github.com/seed-49bee653/samestep/examples/platforms"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/state"
)

// Errors of messages that are well formed.
var (
	errWatcher  = errors.New("only players give commands")
	errSequence = errors.New("want a sequence above all before")
	errSyncs    = errors.New("too many state_sync_request")
	errKind     = errors.New("want auth only once")
)

// A line is the way to the client of a seat.
type line interface {
	send(message []byte)
	sendNotices()
	end(status websocket.StatusCode, reason string)
	joined(p lockstep.Player)
}

// A seat is the side of a connection that follows the match. It belongs to the session's goroutine.
type seat struct {
	line     line
	ledger   *ledger
	player   lockstep.Player
	welcomed chan struct{} // closed by the welcome
	refused  bool          // the server does not know the token; valid when the session has ended
	client   *player.Client
	config   platforms.Config
	pending  map[lockstep.Sequence]int64 // the client's sequences of commands without an answer

	synced bool          // the copy of the match has caught up
	live   bool          // the client has the state after tick at, and gets the frames that follow
	at     lockstep.Tick // of the last frame or state that was sent
	from   lockstep.Tick // of the last state that was sent
}

func (s *seat) begin() {
	*s = seat{line: s.line, ledger: s.ledger, player: lockstep.System, welcomed: make(chan struct{}), pending: make(map[lockstep.Sequence]int64)}
}

// handle takes an event of the client of the match.
func (s *seat) handle(c *player.Client, event any) {
	s.client = c
	switch e := event.(type) {
	case player.Welcomed:
		c.SetReady(true) // that wire cannot say it
		s.player = e.Seat
		s.line.joined(e.Seat)
		close(s.welcomed)
	case player.Synced:
		s.synced = true
		s.sync()
	case lockstep.Receipt:
		s.answer(e)
	case player.ServerError:
		s.refused = s.refused || e.Code == protocol.ErrorRefused
	case player.ServerClosing:
		if !s.refused {
			s.line.end(websocket.StatusNormalClosure, e.Text)
		}
	case player.Ended:
		s.line.end(websocket.StatusNormalClosure, "the match is over")
	}
}

// answer passes on the answer to a command.
func (s *seat) answer(r lockstep.Receipt) {
	sequence, ok := s.pending[r.Sequence]
	if !ok {
		return
	}
	delete(s.pending, r.Sequence)
	if r.Reason == lockstep.Accepted {
		s.line.send(acceptedMessage(sequence, r.Tick))
		return
	}
	s.line.send(errorMessage(fmt.Sprintf("command %d is refused: %v", sequence, r)))
}

// sample is called after ticks of the match. A state replaces what the client has missed.
func (s *seat) sample(c *player.Client) {
	s.client = c
	s.line.sendNotices()
	if s.synced && !s.live {
		s.sync()
	}
}

// sync sends the state, from which the frames go on.
func (s *seat) sync() {
	sim := s.client.Simulation()
	if sim == nil || !s.synced {
		return
	}
	var err error
	if s.config, err = readConfig(sim.Header()); err != nil {
		s.line.end(websocket.StatusInternalError, "the match has another configuration")
		return
	}
	s.live, s.at, s.from = true, sim.Tick(), sim.Tick()
	s.line.send(syncMessage(sim, &s.config, s.client.Status().InputDelay, s.player))
}

// configs reads the configuration in a header.
var configs = sync.OnceValues(state.Compile[platforms.Config])

// readConfig returns the configuration of a match.
func readConfig(h *lockstep.Header) (c platforms.Config, err error) {
	codec, err := configs()
	if err == nil {
		err = codec.Decode(h.Config, &c)
	}
	return c, err
}

// observe is called after each tick with its commands. A client that has the tick already does not get it again, and one
// that misses ticks gets a state.
func (s *seat) observe(t lockstep.Tick, event any) {
	e, ok := event.(platforms.Ticked)
	if !ok || !s.live || t <= s.at {
		return
	}
	if t != s.at+1 {
		s.live = false
		return
	}
	s.at = t
	sim := s.client.Simulation()
	w, every := lockstep.World[platforms.World](sim), int64(sim.Header().Settings.CheckEvery)
	s.line.send(frameMessage(w, t, e.Orders))
	if tick := foreign(t); tick > 0 && tick%every == 0 {
		s.ledger.compute(tick, every, w.Checksum(&s.config).String())
	}
}

// submit gives a command of the client.
func (s *seat) submit(p *player.Client, m *command) error {
	if s.player == lockstep.System {
		return errWatcher
	}
	sequence, err := p.Submit(m.value())
	if err == nil {
		s.pending[sequence] = m.sequence
	}
	return err
}

// check compares a checksum of the client. A watcher's counts for nothing, and neither does one of a tick before the
// state that the client has got.
func (s *seat) check(m *message) {
	if s.player == lockstep.System || !s.live || m.tick <= foreign(s.from) {
		return
	}
	sim := s.client.Simulation()
	w := lockstep.World[platforms.World](sim)
	s.ledger.report(m.tick, foreign(s.at), int64(sim.Header().Settings.CheckEvery), label(playerID(w, s.player)), m.checksum)
}
