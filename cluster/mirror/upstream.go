//go:build !js

package mirror

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/seed-49bee653/samestep/cluster/audience"
	"github.com/seed-49bee653/samestep/internal/buffer"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/server"
)

// An Upstream is a Source: a server, or another mirror, which is watched over the protocol of docs/spec/live.md.
type Upstream struct {
	// URL is its address, such as "http://game.example". With the path of a match, such as "/matches/duel", the mirror has only that
	// one.
	URL string

	Token    string       // of a spectator; empty if the server lets anybody watch
	MaxState int          // bytes of a keyframe: 64 MiB
	HTTP     *http.Client // makes the connections; nil means http.DefaultClient
}

const (
	dialTime   = 10 * time.Second
	fetchTime  = 60 * time.Second
	fetchEvery = 5 * lockstep.Second // between two fetches of a keyframe, at least
	maxAnswer  = 1 << 20             // bytes of an answer in JSON
	maxUnsent  = 16                  // messages that the socket has not taken
)

// Check returns an error unless the URL has the form of one.
func (u Upstream) Check() error {
	_, _, err := u.base()
	return err
}

// base returns the address of the server, and the only match or "".
func (u Upstream) base() (base, only string, err error) {
	x, err := url.Parse(u.URL)
	if err != nil || x.Scheme != "http" && x.Scheme != "https" || x.Host == "" {
		return "", "", fmt.Errorf("mirror: got the upstream %q, want http://HOST or http://HOST/matches/NAME", u.URL)
	}
	before, only, _ := strings.Cut(strings.TrimSuffix(x.Path, "/"), "/matches/")
	only, _, _ = strings.Cut(only, "/")
	return x.Scheme + "://" + x.Host + before, only, nil
}

// find implements [Source].
func (u Upstream) find(ctx context.Context, name string) (follow func(*Match) feed, err error) {
	base, only, err := u.base()
	if err != nil {
		return nil, err
	}
	if only != "" && only != name {
		return nil, ErrNoMatch
	}
	b, err := u.get(ctx, base+"/matches/"+url.PathEscape(name), maxAnswer)
	if err != nil {
		return nil, err
	}
	var v Status
	if err := json.Unmarshal(b, &v); err != nil {
		return nil, fmt.Errorf("mirror: the upstream's view of the match: %w", err)
	}
	auth := protocol.Auth{
		Protocol: v.Protocol, Engine: v.Engine, Game: v.Game, Build: v.Build, StateSchema: v.StateSchema, CommandSchema: v.CommandSchema,
		Platform: "mirror", Token: u.Token,
	}
	for i, p := range auth.SelfTest.Parts() {
		if i < len(v.SelfTest) {
			*p.Sum, _ = strconv.ParseUint(v.SelfTest[i], 10, 64) // the server says what is wrong with another one
		}
	}
	if !record.IsAssetSum(v.Rules) {
		v.Rules = ""
	}
	return (&upstreamMatch{u, base, base + "/matches/" + url.PathEscape(name) + "/play", v.Rules, auth}).follow, nil
}

// away implements [Source]. It asks nobody: spectators could make a mirror ask all the time.
func (u Upstream) away() string { return "" }

// get fetches a body of at most limit bytes.
func (u Upstream) get(ctx context.Context, address string, limit int64) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	a, err := u.client().Do(r)
	if err != nil {
		return nil, fmt.Errorf("mirror: upstream: %w", err)
	}
	defer a.Body.Close()
	switch {
	case a.StatusCode == http.StatusNotFound:
		return nil, ErrNoMatch
	case a.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("mirror: upstream: got status %d, want 200", a.StatusCode)
	}
	b, err := io.ReadAll(io.LimitReader(a.Body, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = fmt.Errorf("mirror: upstream: got an answer of more than %d bytes", limit)
	}
	return b, err
}

func (u Upstream) client() *http.Client {
	c := http.Client{}
	if u.HTTP != nil {
		c = *u.HTTP
	}
	c.CheckRedirect = func(*http.Request, []*http.Request) error {
		return errors.New("mirror: the upstream sends us to another address, which would get the token")
	}
	return &c
}

// An upstreamMatch is a match of an Upstream.
type upstreamMatch struct {
	from  Upstream
	base  string // of the server
	play  string // of the match's WebSocket
	rules string
	auth  protocol.Auth
}

func (f *upstreamMatch) options() audience.UpstreamOptions {
	return audience.UpstreamOptions{Auth: f.auth, MaxState: f.from.MaxState, Seed: rand.Uint64()}
}

// follow begins to feed the audience of a match.
func (f *upstreamMatch) follow(m *Match) feed {
	m.rules = f.rules
	ctx, cancel := context.WithCancel(context.Background())
	return &upstreamFeed{upstreamMatch: f, m: m, u: audience.NewUpstream(m.a, f.options()), ctx: ctx, cancel: cancel}
}

// dial opens a WebSocket.
func (f *upstreamMatch) dial(ctx context.Context) (*websocket.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	ws, _, err := websocket.Dial(ctx, f.play, &websocket.DialOptions{
		HTTPClient: f.from.client(), Subprotocols: []string{server.Subprotocol}, CompressionMode: websocket.CompressionDisabled,
	})
	if err != nil {
		return nil, err
	}
	ws.SetReadLimit(protocol.MaxServerMessage)
	return ws, nil
}

// An upstreamFeed follows a match of an Upstream.
type upstreamFeed struct {
	*upstreamMatch
	m      *Match
	u      *audience.Upstream
	ctx    context.Context
	cancel context.CancelFunc

	ws       *websocket.Conn // the present one, or nil
	out      chan []byte     // to it
	dialing  bool
	fetching bool
	fetched  lockstep.Time
}

func (f *upstreamFeed) next() lockstep.Time { return f.u.Next() }
func (f *upstreamFeed) lag() lockstep.Tick  { return f.u.Lag() }
func (f *upstreamFeed) progress() (at uint64, behind bool) {
	return f.u.Progress()
}

// close implements feed. Goroutines that are still dialing end with ctx.
func (f *upstreamFeed) close() {
	f.cancel()
	f.hangUp()
}

// act implements feed.
func (f *upstreamFeed) act() {
	now := f.m.now()
	if now >= f.u.Next() {
		f.u.Advance(now)
	}
	switch f.u.Stage() {
	case audience.Dial:
		if !f.dialing && !f.m.over {
			f.dialing = true
			go f.connect()
		}
	case audience.Connect:
		for b := f.u.Send(nil); len(b) > 0; b = f.u.Send(nil) {
			select {
			case f.out <- b:
			default: // the server does not read
				f.lost(f.ws)
				return
			}
		}
	case audience.Over:
		f.hangUp()
		f.m.giveUp(f.u.Err())
	default:
		f.hangUp()
	}
}

// hangUp closes the present connection.
func (f *upstreamFeed) hangUp() {
	if f.ws != nil {
		close(f.out)
		f.ws, f.out = nil, nil
	}
}

// connect dials, in a goroutine of its own.
func (f *upstreamFeed) connect() {
	ws, err := f.dial(f.ctx)
	ok := f.m.post(input{do: func() {
		f.dialing = false
		switch {
		case err != nil:
			f.m.log().Info("mirror: upstream", "err", err)
			f.u.Disconnected(f.m.now())
		case f.u.Stage() != audience.Dial:
			ws.CloseNow()
		default:
			f.ws, f.out = ws, make(chan []byte, maxUnsent)
			go f.write(ws, f.out)
			go f.read(ws)
			f.u.Connected(f.m.now())
		}
	}})
	if !ok && ws != nil {
		ws.CloseNow()
	}
}

// write sends messages until out is closed, and then closes the socket.
func (f *upstreamFeed) write(ws *websocket.Conn, out chan []byte) {
	for b := range out {
		if ws.Write(f.ctx, websocket.MessageBinary, b) != nil {
			break
		}
	}
	ws.CloseNow()
}

// read passes messages on until the socket is closed.
func (f *upstreamFeed) read(ws *websocket.Conn) {
	for {
		b := new(buffer.Buffer)
		_, r, err := ws.Reader(f.ctx)
		if err == nil {
			err = b.Fill(r)
		}
		if !f.m.post(input{do: func() { f.arrived(ws, b.Bytes, err) }}) || err != nil {
			ws.CloseNow()
			return
		}
	}
}

// arrived takes a message, or the end of the connection.
func (f *upstreamFeed) arrived(ws *websocket.Conn, b []byte, err error) {
	if ws != f.ws {
		return
	}
	if err == nil {
		err = f.u.Receive(f.m.now(), b)
	}
	if err != nil {
		f.m.log().Info("mirror: upstream", "err", err)
		f.lost(ws)
	}
}

// lost ends a connection that is of no use any more.
func (f *upstreamFeed) lost(ws *websocket.Conn) {
	if ws == f.ws {
		f.hangUp()
		f.u.Disconnected(f.m.now())
	}
}

// refresh implements feed: it gets a keyframe over another connection.
func (f *upstreamFeed) refresh() {
	now := f.m.now()
	if f.fetching || f.u.Stage() != audience.Connect || f.fetched > 0 && now < f.fetched+fetchEvery {
		return
	}
	f.fetching, f.fetched = true, max(now, 1)
	go func() {
		h, k, err := f.fetch()
		f.m.post(input{do: func() {
			f.fetching = false
			if err != nil {
				f.m.log().Info("mirror: keyframe", "err", err)
				return
			}
			f.m.a.Offer(f.m.now(), h, k)
		}})
	}()
}

// fetch gets a keyframe.
func (f *upstreamFeed) fetch() (*lockstep.Header, *audience.Keyframe, error) {
	ctx, cancel := context.WithTimeout(f.ctx, fetchTime)
	defer cancel()
	ws, err := f.dial(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer ws.CloseNow()
	x := audience.NewFetch(f.options())
	if err := ws.Write(ctx, websocket.MessageBinary, x.Send()); err != nil {
		return nil, nil, err
	}
	for {
		_, b, err := ws.Read(ctx)
		if err != nil {
			return nil, nil, err
		}
		if h, k, err := x.Receive(b); err != nil || k != nil {
			return h, k, err
		}
	}
}
