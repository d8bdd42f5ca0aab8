//go:build !js

package attack

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"net/http"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"github.com/quic-go/webtransport-go"

	"github.com/seed-49bee653/samestep/lockstep/datagram"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// packetsAtOnce is how many packets or datagrams are sent at a time.
const packetsAtOnce = 1000

var _ = register(&Attack{
	Row: 16, Name: "paths", About: "UDP packets of noise; paths of datagrams that name no connection, or replace each other; on a seat's own path noise, old datagrams, datagrams that are too large, and acknowledgements from the future",
	Run: func(ctx context.Context, h *Attackers) error {
		to, err := h.datagramAddress(ctx)
		if err != nil {
			return err
		}
		ways := []func(context.Context, *net.UDPConn, *net.UDPAddr) string{h.noise, h.nameless, h.floodOfNoise, h.floodOfOld, h.tooLarge, h.future, h.replaced}
		return h.repeat(ctx, len(ways), 100, func(ctx context.Context, n int) error {
			c, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.ParseIP(h.From)})
			if err != nil {
				return err
			}
			defer c.Close()
			h.try(ways[n%len(ways)](ctx, c, to))
			return nil
		})
	},
})

// datagramAddress returns where the server takes datagrams: at its own host, which is checked.
func (h *Attackers) datagramAddress(ctx context.Context) (*net.UDPAddr, error) {
	status, answer, err := h.ask(ctx, h.client, http.MethodGet, "/matches/"+h.Match+"/datagrams", "", "")
	if err != nil {
		return nil, err
	}
	if status != http.StatusOK {
		return nil, fmt.Errorf("%w: status %d for the address of its datagrams", errUnfit, status)
	}
	var info struct{ Address string }
	if err := json.Unmarshal([]byte(answer), &info); err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(info.Address)
	if err != nil {
		return nil, err
	}
	host, _, err := net.SplitHostPort(h.address())
	if err != nil {
		return nil, err
	}
	return net.ResolveUDPAddr("udp", net.JoinHostPort(host, port))
}

// noise sends packets that are no QUIC.
func (h *Attackers) noise(ctx context.Context, c *net.UDPConn, to *net.UDPAddr) string {
	b := make([]byte, 1200)
	for range packetsAtOnce {
		rand.Read(b)
		if n, err := c.WriteTo(b, to); err != nil || ctx.Err() != nil {
			break
		} else {
			h.count(0, n)
		}
	}
	return "noise"
}

// nameless opens a path that names a connection which is not there.
func (h *Attackers) nameless(ctx context.Context, c *net.UDPConn, to *net.UDPAddr) string {
	var token protocol.SessionToken
	rand.Read(token[:])
	session, err := h.openPath(ctx, c, to, token)
	if err != nil {
		return "nameless: refused"
	}
	<-session.Context().Done()
	return "nameless: closed"
}

// floodOfNoise sends what is no datagram of ours on the path of a seat.
func (h *Attackers) floodOfNoise(ctx context.Context, c *net.UDPConn, to *net.UDPAddr) string {
	b := make([]byte, 1000)
	return h.flood(ctx, c, to, func(int) []byte {
		rand.Read(b)
		return b
	})
}

// floodOfOld repeats a valid datagram on the path of a seat.
func (h *Attackers) floodOfOld(ctx context.Context, c *net.UDPConn, to *net.UDPAddr) string {
	var w datagram.Writer
	b := w.ToHost(nil, &datagram.ToHost{Head: datagram.Head{Number: 1}})
	return h.flood(ctx, c, to, func(int) []byte { return b })
}

// tooLarge sends a datagram that is larger than the protocol allows.
func (h *Attackers) tooLarge(ctx context.Context, c *net.UDPConn, to *net.UDPAddr) string {
	b := make([]byte, datagram.MaxSize+1)
	return h.flood(ctx, c, to, func(int) []byte { return b })
}

// future acknowledges what was not sent.
func (h *Attackers) future(ctx context.Context, c *net.UDPConn, to *net.UDPAddr) string {
	var w datagram.Writer
	return h.flood(ctx, c, to, func(n int) []byte {
		number := uint32(n) + 1
		return w.ToHost(nil, &datagram.ToHost{Head: datagram.Head{Number: number, Seen: 1 << 30, Count: 1 << 29}, Position: 1 << 40, Tick: 1 << 30})
	})
}

// replaced opens one path of a seat after the other.
func (h *Attackers) replaced(ctx context.Context, c *net.UDPConn, to *net.UDPAddr) string {
	p, err := h.join(ctx, h.Tokens.Attackers[0], protocol.SessionToken{})
	if err != nil {
		return "replaced: " + outcome(err)
	}
	defer p.leave(context.WithoutCancel(ctx))
	t := &quic.Transport{Conn: c}
	defer t.Close()
	for n := range 20 {
		if _, err := h.openOn(ctx, t, to, p.welcome.Session); err != nil {
			return fmt.Sprintf("replaced: %d times", n)
		}
	}
	return "replaced"
}

// flood takes a seat, opens its path, and sends datagrams there.
func (h *Attackers) flood(ctx context.Context, c *net.UDPConn, to *net.UDPAddr, next func(n int) []byte) string {
	p, err := h.join(ctx, h.Tokens.Attackers[0], protocol.SessionToken{})
	if err != nil {
		return "flood: " + outcome(err)
	}
	defer p.leave(context.WithoutCancel(ctx))
	session, err := h.openPath(ctx, c, to, p.welcome.Session)
	if err != nil {
		return "flood: no path"
	}
	defer session.CloseWithError(0, "")
	for n := range packetsAtOnce {
		b := next(n)
		if session.SendDatagram(b) != nil || ctx.Err() != nil {
			return "flood: closed"
		}
		h.count(0, len(b))
	}
	return "flood"
}

// openPath opens a path of datagrams, and names a connection.
func (h *Attackers) openPath(ctx context.Context, c *net.UDPConn, to *net.UDPAddr, token protocol.SessionToken) (*webtransport.Session, error) {
	t := &quic.Transport{Conn: c}
	context.AfterFunc(ctx, func() { t.Close() })
	return h.openOn(ctx, t, to, token)
}

func (h *Attackers) openOn(ctx context.Context, t *quic.Transport, to *net.UDPAddr, token protocol.SessionToken) (*webtransport.Session, error) {
	d := webtransport.Transport{DialAddr: func(ctx context.Context, _ string, _ *tls.Config, _ *quic.Config) (*quic.Conn, error) {
		return t.Dial(ctx, to, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{http3.NextProtoH3}},
			&quic.Config{EnableDatagrams: true, EnableStreamResetPartialDelivery: true})
	}}
	_, session, err := d.Dial(ctx, "https://"+to.String()+"/matches/"+h.Match+"/datagrams", nil)
	if err != nil {
		return nil, err
	}
	stream, err := session.OpenUniStream()
	if err != nil {
		return nil, err
	}
	stream.Write(token[:])
	return session, stream.Close()
}
