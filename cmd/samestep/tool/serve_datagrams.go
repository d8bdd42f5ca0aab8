//go:build !js

package tool

import (
	"context"
	"fmt"
	"log/slog"
	"net"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/lockstep/server"
)

// datagramFlags say where a server has datagrams.
func datagramFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "datagrams", Usage: "take datagrams (WebTransport) at the UDP `ADDRESS`, so that a lost packet holds no player up; off: none", DefaultText: "that of --listen; off with --trusted-proxy"},
		&cli.StringFlag{Name: "datagrams-public", Usage: "`HOST:PORT` where players reach the address of --datagrams, if it is another one, such as that of a balancer"},
	}
}

const datagramsOff = "off"

// checkDatagrams checks the flags.
func checkDatagrams(c *cli.Context) error {
	address, public := c.String("datagrams"), c.String("datagrams-public")
	for name, text := range map[string]string{"datagrams": address, "datagrams-public": public} {
		if _, _, err := net.SplitHostPort(text); err != nil && text != "" && (name != "datagrams" || text != datagramsOff) {
			return usagef("--%s: got %q, want HOST:PORT", name, text)
		}
	}
	if public != "" && address == datagramsOff {
		return usagef("--datagrams-public and --datagrams off exclude each other")
	}
	return nil
}

// serveDatagrams serves datagrams at an UDP address until stop is called. The default is the address of the listener l, where an
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
		return nil, fmt.Errorf("--datagrams: %w", err)
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
