//go:build !js

package serving

import (
	"context"
	"fmt"
	"log/slog"
	"net"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/server"
)

const datagramsOff = "off"

// checkDatagrams checks the flags.
func checkDatagrams(c *cli.Context) error {
	address, public := c.String("datagrams"), c.String("datagrams-public")
	if _, _, err := net.SplitHostPort(address); err != nil && address != "" && address != datagramsOff {
		return console.Usagef("datagrams: got %q, want HOST:PORT or %s", address, datagramsOff)
	}
	if public == "" {
		return nil
	}
	if _, _, err := net.SplitHostPort(public); err != nil {
		return console.Usagef("datagrams-public: got %q, want HOST:PORT", public)
	}
	if datagramAddress(c) == datagramsOff {
		return console.Usagef("datagrams-public needs datagrams with an address")
	}
	return nil
}

// datagramAddress returns the address of datagrams. Behind a proxy it is off by default: players know the address of the proxy.
func datagramAddress(c *cli.Context) string {
	if !c.IsSet("datagrams") && len(c.StringSlice("trusted-proxy")) > 0 {
		return datagramsOff
	}
	return c.String("datagrams")
}

// datagramOrigins returns the origin of the datagrams, to which the pages of the server may connect; none if it is theirs.
func datagramOrigins(c *cli.Context) []string {
	address := datagramAddress(c)
	if address == datagramsOff {
		return nil
	}
	public := c.String("datagrams-public")
	if _, port, err := net.SplitHostPort(address); public == "" && err == nil && port != "0" {
		public = ":" + port
	}
	if public == "" {
		return nil
	}
	return []string{"https://" + public}
}

// serveDatagrams serves datagrams at a UDP address until stop is called. The default is the address of the listener l, where an
// error is only logged: players then have their WebSockets.
func serveDatagrams(s *server.Server, l net.Listener, address, public string, log *slog.Logger) (stop func(), err error) {
	none := func() {}
	tcp, isTCP := l.Addr().(*net.TCPAddr)
	usual := address == ""
	if usual && isTCP {
		address = tcp.String()
	}
	if address == "" || address == datagramsOff {
		return none, nil
	}
	c, err := net.ListenPacket("udp", address)
	if err != nil && usual {
		log.Warn("no datagrams", "err", err)
		return none, nil
	}
	if err != nil {
		return nil, fmt.Errorf("datagrams: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := s.ServeDatagrams(ctx, c, public); err != nil {
			log.Error("no datagrams any more", "err", err)
		}
	}()
	return func() {
		cancel()
		<-done
		c.Close()
	}, nil
}
