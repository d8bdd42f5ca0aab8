//go:build !js

package netload

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/seed-49bee653/samestep/client"
	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A loadGuest is a cheap client: it follows the stream without simulating it.
type loadGuest struct {
	ws     *websocket.Conn
	period time.Duration
	every  lockstep.Tick // between two commands

	kind     lockstep.Kind
	payload  []byte
	writer   protocol.Writer
	reader   protocol.Reader
	received protocol.Message
	dec      *record.Decoder
	blob     []byte // the received part of a state
	welcome  protocol.Welcome
	next     protocol.Position
	tick     lockstep.Tick
	acked    lockstep.Tick
	given    lockstep.Tick
	checked  lockstep.Tick // whose checksum is to be reported; 0 for none
	checksum uint64        // that the log has for it
	seq      lockstep.Sequence
	sent     time.Time // the command that awaits its receipt; zero if none does

	mu        sync.Mutex
	measuring bool
	over      bool // the time in which frames are due that are measured
	arrivals  []arrival
	answers   []time.Duration
	commands  int
	accepted  int
	bytes     int
	ended     bool // the match
	err       error
}

var errNotWelcome = errors.New("not welcome")

func newLoadGuest(ctx context.Context, url string, auth *protocol.Auth, order *lockstep.Command, rate int, every time.Duration) (*loadGuest, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	ws, _, err := websocket.Dial(ctx, url, &websocket.DialOptions{Subprotocols: []string{client.Subprotocol}})
	if err != nil {
		return nil, err
	}
	ws.SetReadLimit(protocol.MaxServerMessage)
	g := &loadGuest{ws: ws, period: time.Second / time.Duration(rate), every: lockstep.Tick(max(1, every*time.Duration(rate)/time.Second))}
	g.kind, g.payload = order.Kind, order.Payload
	if err := g.send(&protocol.Message{Kind: protocol.KindAuth, Auth: auth}); err != nil {
		return nil, err
	}
	for g.welcome.AckEvery == 0 {
		_, b, err := ws.Read(ctx)
		if err != nil {
			return nil, err
		}
		if err := g.take(b); err != nil {
			return nil, err
		}
	}
	go g.run()
	return g, nil
}

func (g *loadGuest) send(m *protocol.Message) error {
	return g.ws.Write(context.Background(), websocket.MessageBinary, g.writer.Append(nil, m))
}

func (g *loadGuest) measure() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.measuring = true
}

// lasts returns an error if the match of the guest has ended.
func (g *loadGuest) lasts() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.ended {
		return nil
	}
	cure := "a --config whose matches last"
	if g.period < time.Second {
		cure = "a lower --tick-rate, or " + cure
	}
	if time.Duration(len(g.arrivals))*g.period > Shortest {
		cure = "a shorter --time, " + cure
	}
	return fmt.Errorf("the rules ended the match at tick %d, and there is no match left to measure: try %s", g.tick, cure)
}

// stop ends the time of the measurement, but notes the frames that arrive until it is closed.
func (g *loadGuest) stop() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.over = true
}

func (g *loadGuest) run() {
	for {
		_, b, err := g.ws.Read(context.Background())
		if err == nil {
			err = g.take(b)
		}
		if err == nil {
			err = g.play()
		}
		if err != nil {
			g.mu.Lock()
			if g.measuring {
				g.err = err
			}
			g.mu.Unlock()
			return
		}
	}
}

func (g *loadGuest) take(b []byte) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.measuring && !g.over {
		g.bytes += len(b)
	}
	for len(b) > 0 {
		if protocol.IsRecord(b) {
			r, rest, err := g.dec.Decode(b)
			if err != nil {
				return err
			}
			b = rest
			g.record(r)
			continue
		}
		rest, err := g.reader.Read(&g.received, b)
		if err != nil {
			return err
		}
		b = rest
		if err := g.message(&g.received); err != nil {
			return err
		}
	}
	return nil
}

func (g *loadGuest) record(r *record.Record) {
	g.next++
	if r.Kind == record.KindChecksum {
		g.checked, g.checksum = r.Tick, r.Hash
	}
	g.ended = g.ended || r.Kind == record.KindEnd
	if r.Ticks() == 0 {
		return
	}
	g.tick = r.Tick
	if g.measuring {
		g.arrivals = append(g.arrivals, arrival{r.Tick, time.Now()})
	}
}

func (g *loadGuest) message(m *protocol.Message) error {
	switch m.Kind {
	case protocol.KindWelcome:
		g.welcome = *m.Welcome
		g.seq = m.Welcome.LastSequence
	case protocol.KindStateSync:
		if g.blob = append(g.blob[:m.Offset], m.Bytes...); uint32(len(g.blob)) == m.Total {
			g.next = m.Position
			return g.begin()
		}
	case protocol.KindPing:
		return g.send(&protocol.Message{Kind: protocol.KindPong, Nonce: m.Nonce, Tick: g.tick})
	case protocol.KindCommandAccepted, protocol.KindCommandRejected:
		if g.measuring && !g.over && !g.sent.IsZero() {
			g.answers = append(g.answers, time.Since(g.sent))
			if m.Kind == protocol.KindCommandAccepted {
				g.accepted++
			}
		}
		g.sent = time.Time{}
	case protocol.KindError, protocol.KindClosing:
		return fmt.Errorf("%w: %s", errNotWelcome, m.Text)
	}
	return nil
}

// begin starts the stream with the header and the keyframe that have arrived.
func (g *loadGuest) begin() error {
	g.dec = &record.Decoder{}
	for b := g.blob; len(b) > 0; {
		r, rest, err := g.dec.Decode(b)
		if err != nil {
			return err
		}
		g.tick, b = r.Tick, rest
	}
	g.given = g.tick
	return nil
}

// play sends the acknowledgements, checksums and commands that are due. The checksums are those of the log.
func (g *loadGuest) play() error {
	if g.tick >= g.acked+lockstep.Tick(g.welcome.AckEvery) {
		g.acked = g.tick
		if err := g.send(&protocol.Message{Kind: protocol.KindAck, Position: g.next, Tick: g.tick}); err != nil {
			return err
		}
	}
	if t := g.checked; t > 0 {
		g.checked = 0
		if err := g.send(&protocol.Message{Kind: protocol.KindChecksum, Tick: t, Hash: g.checksum}); err != nil {
			return err
		}
	}
	if g.tick < g.given+g.every {
		return nil
	}
	g.given = g.tick
	g.seq++
	g.mu.Lock()
	g.sent = time.Now()
	if g.measuring && !g.over {
		g.commands++
	}
	g.mu.Unlock()
	return g.send(&protocol.Message{Kind: protocol.KindCommand, Sequence: g.seq, Command: g.kind, Bytes: g.payload})
}

// Shortest is the shortest time to measure.
const Shortest = time.Second

// A wirePlayer plays as a program does, with the engine's client, and runs each tick as soon as it can.
type wirePlayer struct {
	session *client.Session
	value   any // the command that it gives
	every   time.Duration
	stop    chan struct{}

	// Of the session's goroutine.
	measuring  bool
	tick       lockstep.Tick // the last one that has run
	arrivals   []arrival
	sent       map[lockstep.Sequence]time.Time
	due        map[lockstep.Tick][]time.Time // when the commands that run in a tick were given
	executions []time.Duration
	commands   int
	accepted   int
	lost       int // connections
}

// newWirePlayer begins to join a match, to give the same command again and again.
func newWirePlayer(g *lockstep.Game, url, token string, value any, every time.Duration, datagrams bool) *wirePlayer {
	p := &wirePlayer{value: value, every: every, stop: make(chan struct{}), sent: map[lockstep.Sequence]time.Time{}, due: map[lockstep.Tick][]time.Time{}}
	p.session = client.Dial(context.Background(), url, g, client.Options{
		Options: player.Options{Token: token, Pacing: player.PacingOptions{AsTheyCome: true}},
		Handle:  p.event, Sample: p.sample, NoDatagrams: !datagrams, HTTP: wireHTTP,
	})
	return p
}

// await waits until the player has caught up, and has datagrams if it is to have them.
func (p *wirePlayer) await(ctx context.Context, datagrams bool) error {
	select {
	case <-p.session.Ready():
	case <-p.session.Done():
		return p.session.Wait()
	case <-ctx.Done():
		return errors.New("it did not join in time")
	}
	has := func() (has bool) {
		p.session.Do(func(c *player.Client) { has = c.Status().Datagrams })
		return has
	}
	for datagrams && !has() {
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return errors.New("it has no datagrams")
		}
	}
	go p.give()
	return nil
}

// give gives commands until the player closes.
func (p *wirePlayer) give() {
	for wait := rand.N(p.every); ; wait = p.every {
		select {
		case <-time.After(wait):
		case <-p.stop:
			return
		}
		p.session.Do(func(c *player.Client) {
			if seq, err := c.Submit(p.value); err == nil && p.measuring {
				p.commands++
				p.sent[seq] = time.Now()
			}
		})
	}
}

// sample notes the ticks that have run.
func (p *wirePlayer) sample(c *player.Client) {
	now := time.Now()
	for p.tick < c.Tick() {
		p.tick++
		if p.measuring {
			p.arrivals = append(p.arrivals, arrival{p.tick, now})
		}
		for _, at := range p.due[p.tick] {
			p.executions = append(p.executions, now.Sub(at))
		}
		delete(p.due, p.tick)
	}
}

func (p *wirePlayer) event(c *player.Client, event any) {
	switch e := event.(type) {
	case player.Synced:
		p.tick = max(p.tick, c.Tick())
	case player.ConnectionLost:
		p.lost++
	case lockstep.Receipt:
		at, ok := p.sent[e.Sequence]
		if delete(p.sent, e.Sequence); !ok || e.Reason != lockstep.Accepted {
			return
		}
		p.accepted++
		if e.Tick <= p.tick {
			p.executions = append(p.executions, time.Since(at))
		} else {
			p.due[e.Tick] = append(p.due[e.Tick], at)
		}
	}
}

func (p *wirePlayer) measure() {
	p.session.Do(func(*player.Client) { p.measuring = true })
}

func (p *wirePlayer) close() {
	close(p.stop)
	p.session.Close()
}

// An arrival is the time at which a tick's frame arrived.
type arrival struct {
	tick lockstep.Tick
	at   time.Time
}

// grace is how long a frame may be late before it counts as one that did not arrive.
const grace = time.Second

// A dueTime is a time in which frames were due. Their arrivals are noted from before it until a [grace] after it.
type dueTime struct {
	from, to time.Time
	period   time.Duration // of a tick
}

// dueBetween returns the time between two others, of a match with a tick rate.
func dueBetween(from, to time.Time, rate int) *dueTime {
	return &dueTime{from: from, to: to, period: time.Second / time.Duration(rate)}
}

// late returns how late each frame was that was due in the time, compared with the promptest one of its client. A frame that
// did not arrive counts as late until the grace ended, and in missing.
func (d *dueTime) late(arrivals []arrival) (late []time.Duration, missing int) {
	origin := d.from // when tick 0 was due
	for i, a := range arrivals {
		if o := a.at.Add(-time.Duration(a.tick) * d.period); i == 0 || o.Before(origin) {
			origin = o
		}
	}
	tickAt := func(at time.Time) lockstep.Tick { // the first one that is due then or later
		return lockstep.Tick((at.Sub(origin) + d.period - 1) / d.period)
	}
	first, end := tickAt(d.from), tickAt(d.to)
	had := map[lockstep.Tick]bool{}
	for _, a := range arrivals {
		if due := origin.Add(time.Duration(a.tick) * d.period); a.tick >= first && a.tick < end && !had[a.tick] {
			had[a.tick] = true
			late = append(late, a.at.Sub(due))
		}
	}
	for tick := first; tick < end; tick++ {
		if !had[tick] {
			late, missing = append(late, d.to.Add(grace).Sub(origin.Add(time.Duration(tick)*d.period))), missing+1
		}
	}
	return late, missing
}

// Missing says how many frames did not arrive, or returns nil.
func Missing(missing, expected int) error {
	if missing == 0 {
		return nil
	}
	return fmt.Errorf("%d of %s did not arrive within %v: the server did not keep up", missing, words.Count(expected, "frame"), grace)
}

// percentiles returns the median and the 99th percentile in milliseconds.
func percentiles(d []time.Duration) (p50, p99 float64) {
	if len(d) == 0 {
		return 0, 0
	}
	slices.Sort(d)
	return milliseconds(d[len(d)/2]), milliseconds(d[len(d)*99/100])
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// wireHTTP trusts the certificate of every server: the comparison has made them all.
var wireHTTP = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
