//go:build !js

package client

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"github.com/quic-go/quic-go"
)

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
