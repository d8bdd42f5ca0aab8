package client

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"time"

	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

const (
	// pathTime is how long an attempt to open a path of datagrams may take.
	pathTime = 10 * time.Second

	// firstPath is the time after a path was lost, or could not be opened, until the next attempt, and up to a half more. It doubles
	// up to longestPath while paths do not last for lastingPath.
	firstPath   = time.Second
	longestPath = time.Minute
	lastingPath = 10 * time.Second

	// maxPathInfo is how many bytes the server's answer with the address of its datagrams may have.
	maxPathInfo = 4 << 10
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
		p, err := openPath(ctx, url, token, &s.options)
		if err != nil {
			p = nil
		}
		result <- p
	}()
}

// openPath asks the server for the address of its datagrams, and opens a path there.
func openPath(ctx context.Context, address string, token protocol.SessionToken, o *Options) (*path, error) {
	info, err := findPath(ctx, address, o)
	if err != nil {
		return nil, err
	}
	return dialPath(ctx, info, token, o)
}

// findPath asks the server of a match for the address of its datagrams.
func findPath(ctx context.Context, address string, o *Options) (info pathInfo, err error) {
	p, ok := placeOf(address)
	if !ok {
		return info, errors.New("not a server of ours")
	}
	get, done, err := o.fetcher()
	if err != nil {
		return info, err
	}
	defer done()
	text, err := get(ctx, p.about("datagrams"), maxPathInfo)
	if err != nil {
		return info, err
	}
	var answer struct {
		Address     string `json:"address"`
		Certificate string `json:"certificate_sha256"`
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return info, err
	}
	if answer.Address == "" {
		return info, errors.New("the server has no datagrams")
	}
	to, err := url.Parse("https://" + answer.Address)
	if err != nil || to.Port() == "" || to.Host != answer.Address {
		return info, fmt.Errorf("got the address %q, want HOST:PORT", answer.Address)
	}
	if to.Hostname() == "" {
		to.Host = strings.TrimSuffix(p.url.Host, ":"+p.url.Port()) + answer.Address
	}
	if info.hash, err = hex.DecodeString(answer.Certificate); err != nil || len(info.hash) != 32 {
		return info, fmt.Errorf("got the hash %q of a certificate, want 64 hexadecimal digits", answer.Certificate)
	}
	to.RawPath = p.match[len(p.prefix):] + "/datagrams"
	to.Path, _ = url.PathUnescape(to.RawPath)
	info.url = to.String()
	return info, nil
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
