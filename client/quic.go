//go:build !js

package client

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"github.com/quic-go/webtransport-go"

	"github.com/seed-49bee653/samestep/internal/buffer"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// maxPathIdle is the time without a packet after which a path is lost. The server sends two datagrams a second or more.
const maxPathIdle = 5 * time.Second

var errCertificate = errors.New("the server has another certificate than it says")

// dialPath opens a path, and tells the server whose it is.
func dialPath(ctx context.Context, info pathInfo, token protocol.SessionToken, o *Options) (*path, error) {
	d := webtransport.Transport{TLSClientConfig: info.tls(), QUICConfig: pathConfig()}
	if o.WrapPackets != nil {
		d.DialAddr = o.dialPackets
	}
	_, session, err := d.Dial(ctx, info.url, nil)
	if err != nil {
		return nil, err
	}
	stream, err := session.OpenUniStream()
	if err == nil {
		_, err = stream.Write(token[:])
	}
	if err == nil {
		err = stream.Close()
	}
	if err != nil {
		session.CloseWithError(0, "")
		return nil, err
	}
	return newPath(session), nil
}

// dialPackets opens a QUIC connection on a socket of its own behind WrapPackets.
func (o *Options) dialPackets(ctx context.Context, address string, t *tls.Config, config *quic.Config) (*quic.Conn, error) {
	to, err := net.ResolveUDPAddr("udp", address)
	if err != nil {
		return nil, err
	}
	c, err := net.ListenUDP("udp", nil)
	if err != nil {
		return nil, err
	}
	transport := &quic.Transport{Conn: o.WrapPackets(c)}
	end := func() {
		transport.Close()
		c.Close()
	}
	conn, err := transport.Dial(ctx, to, t, config)
	if err != nil {
		end()
		return nil, err
	}
	context.AfterFunc(conn.Context(), end)
	return conn, nil
}

// tls returns the configuration for a server that has exactly the certificate that it says.
func (i pathInfo) tls() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13, NextProtos: []string{http3.NextProtoH3},
		InsecureSkipVerify: true, // no authority knows the certificate: its hash came from the address of the match
		VerifyConnection: func(c tls.ConnectionState) error {
			sum := sha256.Sum256(c.PeerCertificates[0].Raw)
			if !bytes.Equal(sum[:], i.hash) {
				return errCertificate
			}
			return nil
		},
	}
}

func pathConfig() *quic.Config {
	return &quic.Config{
		HandshakeIdleTimeout: pathTime, MaxIdleTimeout: maxPathIdle, MaxIncomingStreams: -1,
		EnableDatagrams: true, EnableStreamResetPartialDelivery: true,
	}
}

// newPath returns the path of a session, with its two goroutines.
func newPath(session *webtransport.Session) *path {
	out := make(chan *buffer.Buffer, maxUnsentDatagrams)
	p := &path{arrived: make(chan []byte, maxUnreadDatagrams), gone: make(chan struct{})}
	p.close = func() { session.CloseWithError(0, "") }
	p.send = func(b []byte) {
		own := buffers.Get()
		own.Bytes = append(own.Bytes[:0], b...)
		select {
		case out <- own:
		default:
			buffers.Put(own)
		}
	}
	go func() {
		for {
			select {
			case b := <-out:
				session.SendDatagram(b.Bytes) // one that is too large for the network is lost
				buffers.Put(b)
			case <-session.Context().Done():
				return
			}
		}
	}()
	go func() {
		defer close(p.gone)
		for {
			b, err := session.ReceiveDatagram(session.Context())
			if err != nil {
				return
			}
			select {
			case p.arrived <- b:
			default:
			}
		}
	}()
	return p
}

// A DatagramProbe is what a client finds on the way to a server's datagrams.
type DatagramProbe struct {
	Address   string        // HOST:PORT of UDP; "" if the server tells none
	RoundTrip time.Duration // the least
	Sent      int           // packets
	Lost      int           // of them
}

const (
	probes    = 50
	probeTime = 20 * time.Millisecond // between two
)

// ProbeDatagrams sends 50 packets in a second to where a server takes the datagrams of the match at a WebSocket URL. It needs no seat: the
// server acknowledges packets before it knows whose they are. An error with an Address means that nothing passes there.
func ProbeDatagrams(ctx context.Context, match string, o Options) (p DatagramProbe, err error) {
	info, err := findPath(ctx, match, &o)
	if err != nil {
		return p, err
	}
	to, err := url.Parse(info.url)
	if err != nil {
		return p, err // ours
	}
	p.Address = to.Host
	config := pathConfig()
	config.DisablePathMTUDiscovery = true // its packets may be lost
	conn, err := quic.DialAddr(ctx, p.Address, info.tls(), config)
	if err != nil {
		return p, err
	}
	defer conn.CloseWithError(0, "")
	before := conn.ConnectionStats()
	for range probes {
		if err := conn.SendDatagram([]byte{0}); err != nil {
			return p, fmt.Errorf("the connection does not last: %w", err)
		}
		select {
		case <-time.After(probeTime):
		case <-ctx.Done():
			return p, ctx.Err()
		}
	}
	time.Sleep(min(2*before.SmoothedRTT, time.Second)) // until the last ones are acknowledged
	after := conn.ConnectionStats()
	p.RoundTrip = after.MinRTT
	p.Sent, p.Lost = probes, min(probes, int(after.PacketsLost-before.PacketsLost))
	return p, nil
}
