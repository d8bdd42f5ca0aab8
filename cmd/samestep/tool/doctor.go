//go:build !js

package tool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/urfave/cli/v2"
)

func doctorCommand() *cli.Command {
	return &cli.Command{
		Name:      "doctor",
		Usage:     "tell what the way to a server is like, and how a player there would get frames",
		ArgsUsage: "URL",
		Description: `Checks the way from this machine to the match at a URL such as
http://127.0.0.1:8766/matches/match-1, or to a server: its name, HTTP and certificate,
whether a WebSocket opens, and whether datagrams pass, with the round trip and the loss
of 50 packets. It takes no seat and needs no token.

It fails if the match cannot be played from here. Without datagrams it can, over the
WebSocket, where one lost packet holds all frames behind it back.`,
		Flags: []cli.Flag{
			&cli.DurationFlag{Name: "timeout", Value: 5 * time.Second, Usage: "wait at most `TIME` for each answer"},
			jsonFlag,
		},
		Action: func(c *cli.Context) error {
			d, err := newDoctor(c.Args().First(), c.Duration("timeout"))
			if err != nil {
				return err
			}
			d.examine(c.Context)
			return tell(c, &d.findings, d.findings.print, d.findings.verdict())
		},
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
	ClockMS     int64   `json:"server_clock_ahead_ms"`     // of ours, to a second
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

func (f *findings) print(w io.Writer) {
	line := newWrappingLiner(w)
	for _, c := range f.Checks {
		mark := "ok"
		if !c.OK {
			mark = "!!"
		}
		line(c.Name, "%s  %s", mark, shown(c.Text))
		if c.Advice != "" {
			line("", "    %s", c.Advice)
		}
	}
	switch f.Transport {
	case byDatagrams:
		line("verdict", "a player here gets frames in datagrams beside the WebSocket: a lost packet holds nothing back")
	case byWebSocket:
		line("verdict", "a player here gets frames by the WebSocket alone: the match can be played, but a lost packet holds back all frames behind it")
	default:
		line("verdict", "%v", errNotPlayable)
	}
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
