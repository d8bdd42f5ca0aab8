//go:build !js

package live

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
)

// HealthcheckCommand returns the verb healthcheck.
func HealthcheckCommand() *cli.Command {
	return &cli.Command{
		Name:      "healthcheck",
		Usage:     "ask a server whether it is ready",
		ArgsUsage: "[URL]",
		Description: `Prints the answer of /readyz, and fails if the server could not start another match and
write its replay, or does not answer. Containers use it, and scripts that start servers.
URL is that of the server, with its base-path, or unix:PATH.`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "live", Usage: "ask /healthz: whether the process answers"},
			&cli.DurationFlag{Name: "timeout", Value: 5 * time.Second, Usage: "wait at most `TIME` for the answer"},
		},
		Action: healthcheck,
	}
}

func healthcheck(c *cli.Context) error {
	if c.NArg() > 1 {
		return console.Usagef("healthcheck: got %d arguments, want a URL", c.NArg())
	}
	address := c.Args().First()
	if address == "" {
		address = "http://127.0.0.1:8766"
	}
	var transport http.Transport
	defer transport.CloseIdleConnections()
	if socket, ok := strings.CutPrefix(address, "unix:"); ok {
		address = "http://localhost"
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		}
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return console.Usagef("got URL %q, want one such as http://127.0.0.1:8766", address)
	}
	path := "readyz"
	if c.Bool("live") {
		path = "healthz"
	}
	ctx, cancel := context.WithTimeout(c.Context, c.Duration("timeout"))
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.JoinPath(path).String(), nil)
	if err != nil {
		return err
	}
	answer, err := (&http.Client{Transport: &transport}).Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 64<<10))
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: got status %d: %s", r.URL, answer.StatusCode, strings.TrimSpace(string(text)))
	}
	_, err = fmt.Fprintln(c.App.Writer, strings.TrimSpace(string(text)))
	return err
}
