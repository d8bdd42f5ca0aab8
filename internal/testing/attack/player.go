package attack

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// A participant is an honest player: it simulates the match, gives commands and answers
// the server's checks. It does not reconnect, because no attack may disconnect it.
type participant struct {
	ws     *websocket.Conn
	client *player.Client
	think  func(*lockstep.Simulation) []any
	often  lockstep.Tick                      // ticks between two calls of think
	most   int                                // commands of a call
	gave   func(i int, seq lockstep.Sequence) // of the commands of a call; nil: nobody listens
	answer func(lockstep.Receipt)             // nil: nobody listens
	epoch  time.Time
	cancel context.CancelFunc
	done   chan struct{}

	arrived  chan message
	failed   chan error
	live     chan struct{}
	thought  lockstep.Tick
	settings lockstep.Settings // set before live is closed

	mu       sync.Mutex
	seen     lockstep.Tick
	arrivals []arrival
	counts   tally
}

// A tally is what a participant has counted so far.
type tally struct {
	agreed   int // checksums
	differed int
	refused  int // commands
	arrivals int
	tick     lockstep.Tick // the last one that was simulated
	err      error         // that ended the participant
}

// A message is a WebSocket message and the time of its arrival.
type message struct {
	b  []byte
	at time.Time
}

// An arrival is the time at which a tick's frame arrived.
type arrival struct {
	tick lockstep.Tick
	at   time.Time
}

var (
	errLost = errors.New("the connection is lost")
	errLate = errors.New("not live after 20 s")
)

// thinkEvery is the time between a player's commands, in ticks.
const thinkEvery = 20

// maxOrders limits the commands that a player gives at a time.
const maxOrders = 3

// newPlayer joins the match and returns once the player has its state.
func newPlayer(ctx context.Context, s *Server, o *Options, seat int) (*participant, error) {
	p := &participant{often: thinkEvery, most: maxOrders}
	if o.Think != nil {
		p.think = o.Think(lockstep.Player(seat), uint64(seat)+1)
	}
	if err := p.join(ctx, nearClient(), s.URL, s.Match, o.Game, player.Options{Token: s.Tokens.Honest[seat], Seed: uint64(seat)}); err != nil {
		return nil, fmt.Errorf("honest player %d: %w", seat, err)
	}
	return p, nil
}

// join joins a match and returns once the participant has its state.
func (p *participant) join(ctx context.Context, c *http.Client, server, match string, g *lockstep.Game, o player.Options) error {
	p.epoch, p.done = time.Now(), make(chan struct{})
	p.arrived, p.failed, p.live = make(chan message, 64), make(chan error, 1), make(chan struct{})
	p.client = player.New(g, o)
	joining, joined := context.WithTimeout(ctx, patience)
	defer joined()
	dialed, err := openPeer(joining, c, server, match)
	if err != nil {
		return err
	}
	p.ws = dialed.ws
	ctx, p.cancel = context.WithCancel(ctx)
	go p.receive(ctx)
	go p.run(ctx)
	select {
	case <-p.live:
		return nil
	case <-p.done:
		err = p.counts.err
	case <-joining.Done():
		err = errLate
	}
	p.end()
	return err
}

// nearClient returns an HTTP client that uses the default address and dials loopback
// addresses only.
func nearClient() *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: dialer("").DialContext, DisableKeepAlives: true}}
}

// end ends the player and waits until it has ended.
func (p *participant) end() {
	p.cancel()
	p.ws.CloseNow()
	<-p.done
}

func (p *participant) event(e any) {
	switch e := e.(type) {
	case player.Synced:
		select {
		case <-p.live:
		default:
			p.settings = p.client.Header().Settings
			close(p.live)
		}
	case player.Desynced:
		p.count(func(c *tally) { c.differed++ })
	case lockstep.Receipt:
		if p.answer != nil {
			p.answer(e)
		}
		if e.Reason == lockstep.RateLimited || e.Reason == lockstep.TooMany {
			p.count(func(c *tally) { c.refused++ })
		}
	}
}

// events takes note of the client's events, and returns when the client is to be called again.
func (p *participant) events() lockstep.Time {
	r := p.client.Ready()
	for _, e := range r.Events {
		p.event(e)
	}
	return r.Next
}

func (p *participant) count(change func(*tally)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(&p.counts)
}

// receive reads the socket until it is closed.
func (p *participant) receive(ctx context.Context) {
	for {
		_, b, err := p.ws.Read(ctx)
		if err != nil {
			p.failed <- err
			return
		}
		select {
		case p.arrived <- message{b, time.Now()}:
		case <-ctx.Done():
			return
		}
	}
}

func (p *participant) time(at time.Time) lockstep.Time {
	return lockstep.Time(at.Sub(p.epoch).Microseconds())
}

// run drives the client until its connection ends.
func (p *participant) run(ctx context.Context) {
	defer close(p.done)
	p.client.Advance(p.time(time.Now()))
	p.client.Connected(p.time(time.Now()))
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		var err error
		select {
		case m := <-p.arrived:
			err = p.client.Receive(p.time(m.at), m.b)
			p.note(m.at)
		case err = <-p.failed:
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		p.events()
		if err == nil {
			err = p.step(ctx)
		}
		if err != nil {
			p.count(func(c *tally) { c.err = err })
			return
		}
		timer.Reset(max(0, time.Duration(p.events()-p.time(time.Now()))*time.Microsecond))
	}
}

// step simulates the ticks that are due, gives commands, and sends the client's messages.
func (p *participant) step(ctx context.Context) error {
	p.client.Advance(p.time(time.Now()))
	st := p.client.Status()
	p.count(func(c *tally) { c.agreed, c.tick, c.differed = st.Agreed, st.Tick, max(c.differed, st.Differing) })
	if st.Stage == player.StageLive && p.think != nil && st.Tick >= p.thought+p.often {
		p.thought = st.Tick
		orders := p.think(p.client.Simulation())
		for i, v := range orders[:min(len(orders), p.most)] {
			seq, err := p.client.Submit(v)
			if err != nil {
				break // too many commands have no answer yet
			}
			if p.gave != nil {
				p.gave(i, seq)
			}
		}
	}
	for out := p.client.Send(nil); len(out) > 0; out = p.client.Send(nil) {
		if err := p.ws.Write(ctx, websocket.MessageBinary, out); err != nil {
			return err
		}
	}
	if st.Stage == player.StageDone || st.Stage == player.StageClosing || st.Stage == player.StageWaiting {
		return errLost
	}
	return nil
}

// note records the tick that a message has brought.
func (p *participant) note(at time.Time) {
	now := p.client.Status().ServerTick
	p.mu.Lock()
	defer p.mu.Unlock()
	if now > p.seen {
		p.seen = now
		p.arrivals = append(p.arrivals, arrival{now, at})
	}
}

func (p *participant) tally() (t tally) {
	p.count(func(c *tally) {
		c.arrivals = len(p.arrivals)
		t = *c
	})
	return t
}

// ticks returns the arrivals between two tallies.
func (p *participant) ticks(from, to tally) []arrival {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.arrivals[from.arrivals:to.arrivals]
}
