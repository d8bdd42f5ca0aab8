package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/seed-49bee653/samestep/internal/buffer"
	"github.com/seed-49bee653/samestep/internal/deflate"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// ErrOver is returned by a Session that has ended.
var ErrOver = errors.New("client: the session is over")

// A Session is a client of a live match with its connection. It is safe for concurrent use.
type Session struct {
	id      string
	urls    []string // of the match, the one of the next attempt first
	options Options
	game    *lockstep.Game
	loader  *loader // nil for a game without assets
	client  *player.Client
	epoch   time.Time
	do      chan func()
	ready   chan struct{}
	done    chan struct{}
	err     error // valid when done is closed

	link    *link // of the present connection, or nil
	last    *link // the one before, which may still be closing
	dialing chan dialed
	slice   timeslice
	foresee foresight

	datagrams datagrams // of the link

	cancel  context.CancelFunc // of the attempt
	retry   bool               // as soon as this attempt or connection has ended
	stagger time.Duration      // by which the next attempt is late, so that not all clients of a server come at once
	sampled lockstep.Tick
	sees    bool  // the client had a view then
	closed  bool  // by Close
	lost    error // why the client has given up, if the session knows more than the client
	schemas bool  // the server has refused the client because of a schema
}

// Dial begins to play or watch the match at a WebSocket URL. It returns at once; events report the progress. The
// session ends when the match ends, when the client gives up, after [player.Client.Leave], or when ctx ends, which
// leaves the match for the cause of ctx.
func Dial(ctx context.Context, url string, g *lockstep.Game, o Options) *Session {
	s := &Session{
		id: o.ID, urls: slices.Concat([]string{url}, o.Servers), options: o, game: g, epoch: time.Now(),
		do: make(chan func()), ready: make(chan struct{}), done: make(chan struct{}),
	}
	if len(o.Servers) > 0 {
		s.options.Servers = slices.Clone(s.urls) // the first one may be redirected to as well
		o.PingEvery, o.Silence = cmp.Or(o.PingEvery, clusterPing), cmp.Or(o.Silence, clusterSilence)
		o.Reconnect.First, o.Reconnect.Longest = cmp.Or(o.Reconnect.First, clusterFirst), cmp.Or(o.Reconnect.Longest, clusterLongest)
	}
	if o.Pacing.Budget <= 0 {
		o.Pacing.Budget = budget
	}
	if o.Seed == 0 {
		o.Seed = rand.Uint64() // so that not all clients of a server reconnect at once
	}
	if !protocol.IsSessionID(s.id) {
		s.id = protocol.SessionID(rand.Uint64())
	}
	if g.HasAssets() {
		s.loader = &loader{options: &s.options, own: g.ReadAsset}
		g = g.WithAssets(s.loader.read)
	}
	if o.Unpack == nil {
		o.Unpack = deflate.Unpack
	}
	s.client = player.New(g, o.Options)
	most := s.client.MostPredicted()
	s.foresee = foresight{most: most, now: most}
	go s.run(ctx)
	return s
}

// handle passes the client's events on, and returns when the client wants to be called again.
func (s *Session) handle() lockstep.Time {
	for {
		r := s.client.Ready()
		if len(r.Events) == 0 {
			return r.Next
		}
		for _, e := range r.Events {
			s.event(e)
		}
	}
}

func (s *Session) event(e any) {
	switch v := e.(type) {
	case player.ServerClosing:
		s.urls = append(s.urls[1:], s.urls[0]) // this server has no room, or not the match any more
		s.stagger = time.Duration(rand.Int64N(int64(v.RetryAfter)*int64(time.Microsecond)/5 + 1))
	case player.ServerError:
		s.schemas = v.Code == protocol.ErrorIdentity && strings.HasSuffix(v.Field, " schema")
	case player.LostForGood:
		if s.schemas {
			s.lost = explainSchemas(v.Err, s.game, s.urls[0], &s.options)
			e = player.LostForGood{Err: s.lost}
		}
	}
	if _, synced := e.(player.Synced); synced {
		select {
		case <-s.ready:
		default:
			close(s.ready)
		}
	}
	if s.options.Handle != nil {
		s.options.Handle(s.client, e)
	}
}

// Ready is closed when the client has caught up for the first time: it has a state to draw, and a player can submit
// commands. It stays open if the session ends before.
func (s *Session) Ready() <-chan struct{} { return s.ready }

// Done is closed when the session has ended.
func (s *Session) Done() <-chan struct{} { return s.done }

// Wait waits for the end of the session and returns why it ended: nil if the match was over or the client left.
func (s *Session) Wait() error {
	<-s.done
	return s.err
}

// ID returns the id of the session, which the logs of the servers have in each line about it. It is no secret. A player who reports a
// problem names it, and the match.
func (s *Session) ID() string { return s.id }

// Do calls f in the session's goroutine and waits for it. It must not be called from there: Sample and Handle have the
// client already.
func (s *Session) Do(f func(*player.Client)) error {
	ran := make(chan struct{})
	select {
	case s.do <- func() { f(s.client); close(ran) }:
		<-ran
		return nil
	case <-s.done:
		return ErrOver
	}
}

// Submit gives a command, a pointer to its registered type, and returns its sequence. Its receipt is an event.
func (s *Session) Submit(value any) (seq lockstep.Sequence, err error) {
	if gone := s.Do(func(c *player.Client) { seq, err = c.Submit(value) }); gone != nil {
		return 0, gone
	}
	return seq, err
}

// Close ends the session without giving up the seat, and waits for its end. The server keeps the seat for the token, as
// after a lost connection.
func (s *Session) Close() {
	s.Do(func(*player.Client) { s.closed = true })
	<-s.done
}

// Retry connects at once if the connection is lost, or nothing comes through it: the user asks for it, or the network is
// back. See [player.Client.Retry].
func (s *Session) Retry() error {
	return s.Do(func(c *player.Client) {
		s.stagger = 0
		switch {
		case s.dialing != nil:
			s.retry = true // the present attempt may hang
			s.cancel()
		case s.link != nil && c.Held().Reason == player.LinkStalled:
			s.link.socket.abort()
			s.retry = true
		default:
			c.Retry()
		}
	})
}

// Cut aborts the present connection, for tests and demonstrations.
func (s *Session) Cut() error {
	return s.Do(func(*player.Client) {
		if s.link != nil {
			s.link.socket.abort()
		}
	})
}

func (s *Session) now() lockstep.Time { return lockstep.Time(time.Since(s.epoch).Microseconds()) }

// run is the session's goroutine.
func (s *Session) run(ctx context.Context) {
	defer close(s.done)
	timer := time.NewTimer(0)
	defer timer.Stop()
	leave := ctx.Done()
	for s.client.Stage() != player.StageDone && !s.closed {
		var arrived chan *buffer.Buffer
		var gone chan error
		var datagram chan []byte
		var lost chan struct{}
		resting := s.slice.over(time.Now())
		if resting {
			timer.Reset(s.slice.rest())
		} else if s.link != nil {
			arrived, gone = s.link.arrived, s.link.gone
			if p := s.datagrams.path; p != nil {
				datagram, lost = p.arrived, p.gone
			}
		}
		began := time.Now()
		select {
		case b := <-arrived:
			s.receive(b)
		case err := <-gone:
			s.receive(nil) // what came before, such as the server's reason
			s.drop(err)
		case b := <-datagram:
			s.receiveDatagrams(b)
		case <-lost:
			s.lostPath()
		case p := <-s.datagrams.dialing:
			s.tookPath(p)
		case d := <-s.dialing:
			s.connected(d)
		case f := <-s.do:
			f()
			if s.closed || resting {
				continue
			}
		case <-leave:
			leave = nil
			s.client.Leave(farewell(ctx))
		case <-timer.C:
		}
		s.slice.waited(began, time.Now())
		s.advance()
		s.handle()
		s.sample()
		s.act(ctx)
		timer.Reset(max(0, time.Duration(s.handle()-s.now())*time.Microsecond))
	}
	if s.link != nil && s.closed {
		s.closePath()
		s.link.close() // the client is told nothing: it would try again
		s.last, s.link = s.link, nil
	}
	if s.link != nil {
		s.drop(nil)
	}
	if s.dialing != nil {
		s.cancel()
		if d := <-s.dialing; d.socket != nil {
			d.socket.abort()
		}
	}
	if s.last != nil {
		select {
		case <-s.last.closed: // the server has read our last messages, so a program may end right after the session
		case <-time.After(closeTimeout):
		}
	}
	s.err = cmp.Or(s.lost, s.client.Err())
	if s.err == nil && leave == nil {
		s.err = context.Cause(ctx)
	}
}

// advance lets the client run what is due.
func (s *Session) advance() {
	began := time.Now()
	s.client.Advance(s.now())
	if sliceTime > 0 && s.client.Predicted() != nil && s.foresee.took(time.Since(began)) {
		s.client.SetPredict(s.foresee.now)
	}
}

// sample calls Sample if there was a tick, or the first view.
func (s *Session) sample() {
	_, sees := s.client.Sight()
	if s.client.Simulation() == nil && !sees || s.options.Sample == nil || s.client.Tick() == s.sampled && sees == s.sees {
		return
	}
	s.sampled, s.sees = s.client.Tick(), sees
	s.options.Sample(s.client)
}

// act does what the client wants done: dial, send, hang up.
func (s *Session) act(ctx context.Context) {
	if s.client.Stage() == player.StageDialing && s.dialing == nil && s.link == nil {
		s.begin(ctx)
	}
	if s.link == nil {
		return
	}
	s.openPath(ctx)
	s.sendDatagrams()
	for len(s.link.out) < cap(s.link.out) {
		b := buffers.Get()
		if b.Bytes = s.client.Send(b.Bytes[:0]); len(b.Bytes) == 0 {
			buffers.Put(b)
			break
		}
		s.link.out <- b // has room: only we send
	}
	switch {
	case s.client.Stage() != player.StageClosing:
	case len(s.link.out) < cap(s.link.out):
		s.drop(nil)
	default:
		s.link.expire() // and then it is gone
	}
}

// drop sends the messages that the present connection has, and then ends it.
func (s *Session) drop(err error) {
	s.closePath()
	s.link.close()
	s.last, s.link = s.link, nil
	s.lose(err)
}

// lose tells the client that there is no connection.
func (s *Session) lose(err error) {
	s.client.Disconnected(s.now(), err)
	if s.retry {
		s.retry = false
		s.client.Retry()
	}
	s.handle()
}

// A dialed is the outcome of an attempt to connect.
type dialed struct {
	socket *socket
	url    string
	err    error
}

// A dialError says why there is no connection. Servers write some of these texts.
type dialError struct{ err error }

func (e *dialError) Error() string { return fmt.Sprintf("client: %.*s", maxText, e.err) }

func (e *dialError) Unwrap() error { return e.err }

// begin begins an attempt to connect, in a goroutine of its own.
func (s *Session) begin(ctx context.Context) {
	urls := slices.Clone(s.urls)
	result := make(chan dialed, 1)
	stagger, synced, shown := s.stagger, s.client.Simulation() != nil, append(s.client.Shown(), protocol.ShownID+s.id)
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.dialing, s.cancel, s.stagger = result, cancel, 0
	go func() {
		defer cancel()
		select {
		case <-time.After(stagger):
		case <-ctx.Done():
		}
		result <- s.dialAny(ctx, urls, shown, synced)
	}()
}

// nextServer is how long a client waits for a server before it tries the next one as well.
const nextServer = 300 * time.Millisecond

// dialAny connects to one of the servers of a match: the first one, unless another one answers sooner. It tries the next one
// when one has failed, or has not answered for a while.
func (s *Session) dialAny(ctx context.Context, urls, shown []string, synced bool) dialed {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make(chan dialed, len(urls))
	begun, ended := 0, 0
	next := time.NewTimer(0)
	defer next.Stop()
	var failed dialed
	for ended < len(urls) {
		select {
		case <-next.C:
			if begun == len(urls) {
				continue
			}
			url := urls[begun]
			begun++
			go func() {
				socket, err := s.dial(ctx, url, shown, synced)
				results <- dialed{socket, url, err}
			}()
			next.Reset(nextServer)
		case d := <-results:
			ended++
			if d.err == nil {
				cancel()
				go func() {
					for range begun - ended { // they come too late
						if d := <-results; d.socket != nil {
							d.socket.abort()
						}
					}
				}()
				return d
			}
			if failed.err == nil {
				failed = d
			}
			next.Reset(0)
		}
	}
	return failed
}

// dial fetches the assets of the match that are not here, and connects. A client that has had a state has them all, because a
// session has one match. It shows the token and the session, see [player.Client.Shown].
func (s *Session) dial(ctx context.Context, url string, shown []string, synced bool) (*socket, error) {
	if s.loader != nil && !synced {
		if err := s.loader.load(ctx, url); err != nil {
			return nil, err
		}
	}
	limit := dialTimeout
	if len(s.options.Servers) > 0 {
		limit = clusterDialTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return dial(ctx, url, shown, &s.options)
}

// connected takes the outcome of an attempt to connect.
func (s *Session) connected(d dialed) {
	s.dialing = nil
	if d.err != nil {
		s.lose(&dialError{d.err})
		return
	}
	s.retry = false
	if s.client.Stage() != player.StageDialing {
		d.socket.abort()
		return
	}
	for s.urls[0] != d.url { // it is the first one of the next attempt
		s.urls = append(s.urls[1:], s.urls[0])
	}
	s.link = newLink(d.socket)
	s.client.Connected(s.now())
	s.handle()
}

// receive gives the client a message and all others that have arrived, as many as may be unread. An error makes the client hang up.
func (s *Session) receive(b *buffer.Buffer) {
	for n := 0; ; n++ {
		if b != nil {
			s.client.Receive(s.now(), b.Bytes)
			s.handle()
			buffers.Put(b)
		}
		if n == maxUnread {
			return // before it takes one that nobody reads
		}
		select {
		case b = <-s.link.arrived:
		default:
			return
		}
	}
}

const (
	// maxSchemas is how many bytes the answer with a match's schemas may have.
	maxSchemas = 1 << 20

	// explainTime is how long a session asks for them.
	explainTime = 5 * time.Second
)

// explainSchemas adds to the error of a refusal because of a schema which field differs. The server's refusal has only
// hashes; the schemas of the match whose WebSocket is at an address are fetched by HTTP. Without an answer the error stays.
func explainSchemas(refused error, g *lockstep.Game, address string, o *Options) error {
	ctx, cancel := context.WithTimeout(context.Background(), explainTime)
	defer cancel()
	var theirs protocol.Schemas
	if _, err := o.ask(ctx, address, "schemas", maxSchemas, &theirs); err != nil {
		return refused
	}
	if differs := theirs.Check(g); differs != nil {
		return fmt.Errorf("%w: %w", refused, differs)
	}
	return refused
}

const (
	// firstPath is the time after a path was lost, or could not be opened, until the next attempt, and up to a half more. It doubles
	// up to longestPath while paths do not last for lastingPath.
	firstPath   = time.Second
	longestPath = time.Minute
	lastingPath = 10 * time.Second
)

// datagrams is the state of a session's path.
type datagrams struct {
	path    *path
	dialing chan *path // gives nil for a failure
	cancel  context.CancelFunc
	opened  time.Time     // the path
	wait    time.Duration // before the next attempt
	next    time.Time     // of the next attempt
	buffer  []byte
}

// openPath begins to open a path if there is none. Without one everything comes through the stream.
func (s *Session) openPath(ctx context.Context) {
	d := &s.datagrams
	token, ok := s.client.SessionToken()
	if !ok || s.options.Wrap != nil && s.options.WrapPackets == nil || s.options.NoDatagrams || d.path != nil || d.dialing != nil || time.Now().Before(d.next) {
		return
	}
	result := make(chan *path, 1)
	ctx, d.cancel = context.WithTimeout(context.WithoutCancel(ctx), pathTime)
	d.dialing = result
	url := s.urls[0]
	go func() {
		var p *path
		info, err := findPath(ctx, url, &s.options)
		if err == nil {
			p, err = dialPath(ctx, info, token, &s.options)
		}
		if err != nil {
			p = nil
		}
		result <- p
	}()
}

// tookPath takes the outcome of an attempt.
func (s *Session) tookPath(p *path) {
	d := &s.datagrams
	d.cancel()
	d.dialing, d.cancel = nil, nil
	if p == nil {
		s.retryPath()
		return
	}
	d.path, d.opened = p, time.Now()
}

// lostPath notes that the path has ended. The stream has everything that it did not bring.
func (s *Session) lostPath() {
	d := &s.datagrams
	d.path.close()
	d.path = nil
	if time.Since(d.opened) >= lastingPath {
		d.wait = 0
	}
	s.retryPath()
}

// retryPath sets the time of the next attempt.
func (s *Session) retryPath() {
	d := &s.datagrams
	d.wait = min(max(2*d.wait, firstPath), longestPath)
	d.next = time.Now().Add(d.wait + rand.N(d.wait/2)) // not all clients at once
}

// closePath ends the path, or the attempt to open one, with the connection that it belongs to.
func (s *Session) closePath() {
	d := &s.datagrams
	if d.path != nil {
		d.path.close()
	}
	if d.dialing != nil {
		d.cancel()
		go func(late <-chan *path) {
			if p := <-late; p != nil {
				p.close()
			}
		}(d.dialing)
	}
	s.datagrams = datagrams{buffer: d.buffer}
}

// sendDatagrams sends the client's datagrams.
func (s *Session) sendDatagrams() {
	d := &s.datagrams
	if d.path == nil {
		return
	}
	for {
		if d.buffer = s.client.SendDatagram(d.buffer[:0]); len(d.buffer) == 0 {
			return
		}
		d.path.send(d.buffer)
	}
}

// receiveDatagrams gives the client a datagram and all others that have arrived.
func (s *Session) receiveDatagrams(b []byte) {
	for n := 0; ; n++ {
		s.client.ReceiveDatagram(s.now(), b)
		s.handle()
		if n == maxUnreadDatagrams {
			return
		}
		select {
		case b = <-s.datagrams.path.arrived:
		default:
			return
		}
	}
}
