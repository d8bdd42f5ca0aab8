//go:build !js

package engine

import (
	"cmp"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/internal/testing/netload"
	"github.com/seed-49bee653/samestep/kit/netsim"
)

func benchNetCommand() *cli.Command {
	return &cli.Command{
		Name:  "net",
		Usage: "a server under load: the cost of a client, and how late frames are",
		Description: `Starts "samestep serve" in another process, and plays in all its matches from this
one: the clients read every frame, acknowledge, and give commands, but do not
simulate. Both processes share this machine.

With --wire it compares both transports on a bad network: two servers run at once with
the same matches, each behind a link of this kind, one with WebSockets only and one with
datagrams as well. All connections are encrypted, and these players simulate. As root on
Linux, each server has a network namespace and the system's TCP; otherwise each lost
packet of a WebSocket is a stall.`,
		Flags: []cli.Flag{
			gameset.GameFlag, gameset.AssetsFlag, gameset.ConfigFlag,
			&cli.UintFlag{Name: "clients", Value: 400, Usage: "players, 1 to 20000"},
			&cli.UintFlag{Name: "room", Value: 8, Usage: "players in a match"},
			&cli.UintFlag{Name: "tick-rate", Value: 20, Usage: "ticks per second"},
			&cli.DurationFlag{Name: "every", Value: time.Second, Usage: "time between two commands of one player"},
			&cli.DurationFlag{Name: "time", Value: 10 * time.Second, Usage: "how long to measure"},
			&cli.BoolFlag{Name: "relay", Usage: "serve without a referee"},
			&cli.StringFlag{Name: "wire", Usage: "compare WebSockets and datagrams behind a link: `\"delay=40ms jitter=5ms loss=3% burst=3 seed=7\"`"},
			&cli.StringFlag{Name: "durability", Usage: "write replays, with the `DURABILITY` of serve; otherwise none are written"},
			console.JSONFlag,
		},
		Action: benchNet,
	}
}

func benchNet(c *cli.Context) error {
	game, err := gameset.ChosenGame(c)
	if err != nil {
		return err
	}
	b := &netload.Bench{
		Game:    game.Game,
		Clients: int(c.Uint("clients")), Room: int(c.Uint("room")), Rate: int(c.Uint("tick-rate")),
		Every: c.Duration("every"), Time: c.Duration("time"), Relay: c.Bool("relay"), Durability: c.String("durability"), Settle: 2 * time.Second,
	}
	if err := cmp.Or(console.Between[uint](c, "clients", 1, 20000), console.Between[uint](c, "room", 1, gameset.MaxRoom),
		console.Between[uint](c, "tick-rate", 1, 100), console.Between(c, "every", 10*time.Millisecond, 0),
		console.Between(c, "time", netload.Shortest, time.Hour)); err != nil {
		return err
	}
	if b.Override, err = game.Override(c); err != nil {
		return err
	}
	b.Override, b.Assets = game.WithUnits(b.Override, 200), c.String(gameset.AssetsFlag.Name)
	if !c.IsSet("room") {
		b.Room = int(game.MostSeats(uint8(b.Room), gameset.MaxRoom, 0, b.Override))
	}
	compares := c.IsSet("wire")
	var link netsim.Link
	if compares {
		if link, err = netsim.Parse(c.String("wire")); err != nil {
			return console.Usagef("--wire: %v", err)
		}
		if b.Relay {
			return console.Usagef("--wire and --relay exclude each other")
		}
		if !c.IsSet("clients") {
			b.Clients = b.Room // a single match
		}
	}
	if b.Order, err = game.AnyCommand(uint8(b.Room), b.Override); err != nil {
		return err
	}
	if compares {
		return compareWire(c, b, link)
	}
	r, err := b.Run(c.Context)
	if err != nil {
		return err
	}
	return gameset.Tell(c, r, r.Print, netload.Missing(r.Expected-r.Frames, r.Expected))
}

// compareWire runs the comparison of --wire.
func compareWire(c *cli.Context, b *netload.Bench, link netsim.Link) error {
	dir, err := os.MkdirTemp("", "samestep-bench-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ctx, stop := console.Interruptible(c) // so that the namespaces go, too
	defer stop()
	r, err := b.CompareWire(ctx, link, dir)
	if err != nil {
		return err
	}
	missing, expected := 0, 0
	for _, s := range []*netload.SideResult{&r.WebSocket, &r.Datagrams} {
		missing, expected = missing+s.Expected-s.Frames, expected+s.Expected
	}
	return gameset.Tell(c, r, r.Print, netload.Missing(missing, expected))
}
