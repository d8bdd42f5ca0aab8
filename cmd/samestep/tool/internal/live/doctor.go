//go:build !js

package live

import (
	"io"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
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
