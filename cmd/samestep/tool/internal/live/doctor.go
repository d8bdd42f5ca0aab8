//go:build !js

package live

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/coder/websocket"
	"github.com/quic-go/quic-go"
	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/client"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/server"
)

// DoctorCommand returns the verb doctor.
func DoctorCommand() *cli.Command {
	return &cli.Command{
		Name:      "doctor",
		Usage:     "test the connection to a server, and say how a player here would get frames",
		ArgsUsage: "URL",
		Description: `Tests the connection from this machine to the match at a URL such as
http://127.0.0.1:8766/matches/match-1, or to a server: its name, HTTP and certificate,
whether a WebSocket opens, and whether datagrams arrive, with the round trip and the loss
of 50 packets. It takes no seat and needs no token.

It fails if the match cannot be played from here. Without datagrams it can be played over
the WebSocket, where one lost packet delays all frames behind it.`,
		Flags: []cli.Flag{
			&cli.DurationFlag{Name: "timeout", Value: 5 * time.Second, Usage: "wait at most `TIME` for each answer"},
			console.JSONFlag,
		},
		Action: func(c *cli.Context) error {
			d, err := newDoctor(c.Args().First(), c.Duration("timeout"))
			if err != nil {
				return err
			}
			d.examine(c.Context)
			return gameset.Tell(c, &d.findings, d.findings.print, d.findings.verdict())
		},
	}
}

func (f *findings) print(w io.Writer) {
	line := console.NewWrappingLiner(w)
	for _, c := range f.Checks {
		mark := "ok"
		if !c.OK {
			mark = "!!"
		}
		line(c.Name, "%s  %s", mark, console.Shown(c.Text))
		if c.Advice != "" {
			line("", "    %s", c.Advice)
		}
	}
	switch f.Transport {
	case byDatagrams:
		line("verdict", "a player here gets frames by datagrams: a lost packet delays no other frame")
	case byWebSocket:
		line("verdict", "a player here gets frames by the WebSocket alone: the match can be played, but a lost packet delays all frames behind it")
	default:
		line("verdict", "%v", errNotPlayable)
	}
}

// The ways in which a player gets frames.
const (
	byDatagrams = "datagrams"
	byWebSocket = "websocket"
	byNothing   = "none"
)

// findings is what a doctor has found.
type findings struct {
	URL       string    `json:"url"`
	Playable  bool      `json:"playable"`
	Transport string    `json:"transport"` // datagrams, websocket or none
	Checks    []finding `json:"checks"`

	RoundTripMS float64 `json:"round_trip_ms"`             // of HTTP; 0 if unknown
	UDPTripMS   float64 `json:"udp_round_trip_ms"`         // of packets; 0 if none passes
	Sent        int     `json:"packets_sent"`              // of UDP
	Lost        int     `json:"packets_lost"`              // of them
	ClockS      int     `json:"server_clock_ahead_s"`      // of ours
	Expires     string  `json:"certificate_end,omitempty"` // RFC 3339
}

// A finding is the outcome of one check.
type finding struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Text   string `json:"text"`
	Advice string `json:"advice,omitempty"`
}

var errNotPlayable = errors.New("the match cannot be played from here")

func (f *findings) verdict() error {
	if f.Playable {
		return nil
	}
	return errNotPlayable
}

// A doctor tests the connection to a server.
type doctor struct {
	url      *url.URL // of the server, or of a match
	page     string   // of the match; "" if it is to be chosen
	socket   string   // of the match
	timeout  time.Duration
	hc       http.Client
	findings findings
}

const (
	// httpTrips is how many requests measure the round trip.
	httpTrips = 5

	// clockOff is the difference of clocks that is worth a word. HTTP tells seconds.
	clockOff = 5 * time.Second

	// soon is the time before the end of a certificate that is worth a word.
	soon = 7 * 24 * time.Hour

	// lossy is the part of packets that is worth a word, in percent.
	lossy = 10
)

func newDoctor(address string, timeout time.Duration) (*doctor, error) {
	u, err := url.Parse(address)
	if err == nil {
		u.Scheme = strings.Replace(u.Scheme, "ws", "http", 1)
	}
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, console.Usagef("got URL %q, want one such as http://127.0.0.1:8766/matches/match-1", address)
	}
	d := &doctor{url: u, timeout: timeout}
	d.findings.URL = address
	if strings.Contains(u.Path, "/matches/") {
		if d.page, d.socket, err = matchURLs(u.String()); err != nil {
			return nil, err
		}
	}
	d.hc.Timeout = timeout
	d.hc.Transport = &http.Transport{Proxy: http.ProxyFromEnvironment}
	d.hc.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return d, nil
}

// examine makes the checks in their order, up to the first without which the others tell nothing.
func (d *doctor) examine(ctx context.Context) {
	d.findings.Transport = byNothing
	for _, check := range []func(context.Context) bool{d.name, d.http, d.match, d.webSocket} {
		if !check(ctx) {
			return
		}
	}
	d.findings.Playable, d.findings.Transport = true, byWebSocket
	if d.datagrams(ctx) {
		d.findings.Transport = byDatagrams
	}
}

// found notes the outcome of a check, and reports whether it is good.
func (d *doctor) found(name, advice string, err error, format string, args ...any) bool {
	f := finding{Name: name, OK: err == nil, Text: fmt.Sprintf(format, args...)}
	if err != nil {
		f.Text, f.Advice = err.Error(), advice
	}
	d.findings.Checks = append(d.findings.Checks, f)
	return f.OK
}

// name looks the server's name up.
func (d *doctor) name(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	list, err := net.DefaultResolver.LookupHost(ctx, d.url.Hostname())
	return d.found("name", "Check the spelling, and the DNS of this network.", err, "%s is %s", d.url.Hostname(), strings.Join(list, ", "))
}

// get asks for a page of the server.
func (d *doctor) get(ctx context.Context, address string) (*http.Response, []byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, nil, err
	}
	answer, err := d.hc.Do(r)
	if err != nil {
		return nil, nil, err
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	return answer, b, err
}

// http asks for the server's health several times, the first of which makes the connection.
func (d *doctor) http(ctx context.Context) bool {
	base := *d.url
	base.RawQuery = ""
	base.Path, _, _ = strings.Cut(d.url.Path, "/matches/")
	address := base.JoinPath("healthz").String()
	answer, _, err := d.get(ctx, address)
	advice := "Is the server running, and is its port open for TCP in its firewall and in yours?"
	if errors.As(err, new(*tls.CertificateVerificationError)) {
		advice = "No client accepts this certificate; see serve --tls-cert, or the proxy in front of the server."
	}
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", address, console.StatusOf(answer))
	}
	if err != nil {
		return d.found("http", advice, err, "")
	}
	least := time.Duration(0)
	for range httpTrips {
		from := time.Now()
		if _, _, err := d.get(ctx, address); err != nil {
			return d.found("http", advice, err, "")
		}
		if took := time.Since(from); least == 0 || took < least {
			least = took
		}
	}
	d.findings.RoundTripMS = console.Milliseconds(least)
	d.found("http", "", nil, "the server answers after %.1f ms", console.Milliseconds(least))
	if answer.TLS != nil {
		d.certificate(answer.TLS.PeerCertificates[0].NotAfter)
	}
	d.clock(answer)
	return true
}

func (d *doctor) certificate(end time.Time) {
	d.findings.Expires = end.UTC().Format(time.RFC3339)
	var err error
	if left := time.Until(end); left < soon {
		err = fmt.Errorf("valid only until %s", d.findings.Expires)
	}
	d.found("cert", "The operator should renew it.", err, "valid until %s", d.findings.Expires)
}

func (d *doctor) clock(answer *http.Response) {
	at, err := http.ParseTime(answer.Header.Get("Date"))
	if err != nil {
		return // a server need not say it
	}
	ahead := time.Until(at)
	d.findings.ClockS = int(ahead.Round(time.Second).Seconds())
	err = nil
	if ahead.Abs() > clockOff {
		err = fmt.Errorf("the clocks of the server and of this machine differ by %.0f s", ahead.Abs().Seconds())
	}
	d.found("clock", "Matches tolerate this, but expiring tokens do not.", err, "the server's clock agrees with this machine's")
}

// match finds a match to play, if the URL is that of a server.
func (d *doctor) match(ctx context.Context) bool {
	if d.page == "" {
		_, b, err := d.get(ctx, d.url.JoinPath("matches").String())
		var list []server.Status
		if err == nil {
			err = json.Unmarshal(b, &list)
		}
		i := slices.IndexFunc(list, func(v server.Status) bool { return v.Ended == "" })
		if err == nil && i < 0 {
			err = errors.New("the server has no running match")
		}
		if err != nil {
			return d.found("match", "Give the URL of a match.", err, "")
		}
		if d.page, d.socket, err = matchURLs(d.url.JoinPath("matches", url.PathEscape(list[i].Name)).String()); err != nil {
			return d.found("match", "", err, "")
		}
	}
	v, err := statusOf(ctx, d.page, "")
	if err == nil && v.Ended != "" {
		err = fmt.Errorf("it has ended: %s", v.Ended)
	}
	if err != nil {
		return d.found("match", "Does the URL name a running match?", err, "")
	}
	return d.found("match", "", nil, "%s: %s at tick %d, %s", v.Name, v.Game, v.Tick, v.State)
}

// webSocket opens a WebSocket, and closes it.
func (d *doctor) webSocket(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	ws, answer, err := websocket.Dial(ctx, d.socket, &websocket.DialOptions{Subprotocols: []string{client.Subprotocol}, HTTPClient: &http.Client{Transport: d.hc.Transport}})
	if err != nil && answer != nil {
		err = fmt.Errorf("the server does not upgrade the connection: %s", console.StatusOf(answer))
	}
	if err == nil {
		defer ws.CloseNow()
		if got := ws.Subprotocol(); got != client.Subprotocol {
			err = fmt.Errorf("got the subprotocol %q, want %s", got, client.Subprotocol)
		}
	}
	return d.found("websocket", "A proxy may be blocking WebSockets; it must forward the Upgrade and Connection headers.", err, "it opens")
}

// datagrams tries whether packets pass.
func (d *doctor) datagrams(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, d.timeout+time.Second)
	defer cancel()
	p, err := client.ProbeDatagrams(ctx, d.socket, client.Options{HTTP: &d.hc})
	if err != nil && p.Address == "" {
		return d.found("datagrams", "The operator can enable datagrams with serve --set datagrams=ADDRESS and a firewall that passes UDP.",
			fmt.Errorf("the server advertises no datagram address: %w", err), "")
	}
	f := &d.findings
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("no answer in %v", d.timeout)
	}
	where := p.Address
	if errors.As(err, new(*quic.TransportError)) || errors.As(err, new(*quic.ApplicationError)) {
		return d.found("datagrams", "Behind a balancer each server needs a datagrams-public of its own.",
			fmt.Errorf("UDP to %s passes, but another server answers there, or this one refuses: %w", where, err), "")
	}
	if err != nil {
		return d.found("datagrams", "A firewall here, there or between drops UDP. Allow UDP to "+where+", or play on another network. The server may need datagrams-public if it is behind another address.",
			fmt.Errorf("no UDP to %s: %w", where, err), "")
	}
	f.UDPTripMS, f.Sent, f.Lost = console.Milliseconds(p.RoundTrip), p.Sent, p.Lost
	d.found("datagrams", "", nil, "UDP to %s passes: round trip %.1f ms, %d of %d packets lost", p.Address, f.UDPTripMS, f.Lost, f.Sent)
	if f.Lost*100 > lossy*f.Sent {
		d.findings.Checks[len(f.Checks)-1].Advice = "High loss. Move closer to the Wi-Fi access point, or use a cable."
	}
	return true
}

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
