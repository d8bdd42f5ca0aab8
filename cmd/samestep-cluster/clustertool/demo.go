//go:build unix

package clustertool

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool"
	"github.com/seed-49bee653/samestep/internal/testing/fleet"
	"github.com/seed-49bee653/samestep/lockstep"
)

func demoCommands() []*cli.Command {
	return []*cli.Command{{
		Name:  "demo",
		Usage: "run a cluster on this machine, and kill its servers",
		Description: `Starts a storage node, three servers and two mirrors as processes of this machine. Bots
play matches through any of the servers, and spectators watch through the mirrors. Every
20 seconds the server with most matches is killed, and comes back five seconds later. In
the end all matches are ended, and their replays are verified and compared with what
the players were told. It exits with 0 only if nothing is lost.`,
		Flags: []cli.Flag{
			tool.GameFlag(),
			&cli.StringFlag{Name: "dir", Usage: "`FOLDER` for all files; the default is a new one in the temporary folder"},
			tool.JSONFlag(),
			&cli.DurationFlag{Name: "time", Value: 70 * time.Second, Usage: "how long to play"},
			&cli.DurationFlag{Name: "every", Value: 20 * time.Second, Usage: "`TIME` from one kill to the next"},
			&cli.UintFlag{Name: "matches", Value: 6, Usage: "matches of two players"},
			&cli.UintFlag{Name: "servers", Value: 3, Usage: "servers, 2 to 16"},
			&cli.UintFlag{Name: "mirrors", Value: 2, Usage: "mirrors"},
			&cli.UintFlag{Name: "nodes", Value: 1, Usage: "storage nodes, 1 or 3"},
		},
		Action: demo,
	}}
}

type demonstration struct {
	c       *cli.Context
	fleet   *fleet.Fleet
	game    *lockstep.Game
	bot     func(lockstep.Player, uint64) lockstep.Bot
	dir     string
	matches []*demoMatch
	began   time.Time
	result  demoResult
}

type demoMatch struct {
	name      string
	players   []*fleet.Player
	spectator *fleet.Player // nil without mirrors
	server    string
	term      uint32
	judgement *fleet.Judgement
}

type demoResult struct {
	Seconds   float64       `json:"seconds"`
	Kills     int           `json:"kills"`
	Takeovers int           `json:"takeovers"`
	Ticks     lockstep.Tick `json:"ticks"` // of all matches
	Commands  int           `json:"commands_accepted"`
	Moved     int           `json:"commands_moved"` // to a later tick, because their server was lost before the one promised
	Lost      int           `json:"commands_lost"`
	LostTicks lockstep.Tick `json:"ticks_lost"`
	Differed  int           `json:"checksums_differing"`
	Checked   int           `json:"checksums_compared"`
	LongestMS int64         `json:"longest_pause_ms"` // of a player
	Replays   int           `json:"replays"`
}

func demo(c *cli.Context) (err error) {
	if n := c.Uint("servers"); n < 2 || n > 16 {
		return tool.Usagef("--servers: got %d, want 2 to 16", n)
	}
	if n := c.Uint("nodes"); n != 1 && n != 3 {
		return tool.Usagef("--nodes: got %d, want 1 or 3", n)
	}
	d := &demonstration{c: c, dir: c.String("dir")}
	if d.game, d.bot, err = tool.ChosenGame(c); err != nil {
		return err
	}
	if d.dir == "" {
		if d.dir, err = os.MkdirTemp("", "samestep-cluster-"); err != nil {
			return err
		}
	} else if err := os.MkdirAll(d.dir, 0o700); err != nil {
		return err
	}
	ctx, stop := tool.Interruptible(c)
	defer stop()
	program, err := os.Executable()
	if err != nil {
		return err
	}
	fmt.Fprintf(c.App.ErrWriter, "starting %d storage node(s), %d servers and %d mirrors in %s\n", c.Uint("nodes"), c.Uint("servers"), c.Uint("mirrors"), d.dir)
	d.fleet, err = fleet.Start(ctx, fleet.Options{
		Program: program, Dir: d.dir, Nodes: int(c.Uint("nodes")), Servers: int(c.Uint("servers")), Mirrors: int(c.Uint("mirrors")), Game: d.game.Name(),
	})
	if err != nil {
		return err
	}
	defer d.fleet.Close()
	d.began = time.Now()
	urls := func(all []*fleet.Process, first int) (urls []string) { // beginning with the first
		for i := range all {
			urls = append(urls, all[(i+first)%len(all)].URL)
		}
		return urls
	}
	for i := range int(c.Uint("matches")) {
		m := &demoMatch{name: fmt.Sprint("match-", i+1)}
		if err := d.fleet.Create(ctx, d.fleet.Servers[i%len(d.fleet.Servers)], m.name, 2); err != nil {
			return err
		}
		for seat := range 2 {
			bot := d.bot(lockstep.Player(seat), uint64(i))
			m.players = append(m.players, d.fleet.Join(context.WithoutCancel(ctx), d.game, m.name, seat, bot, urls(d.fleet.Servers, i+seat)))
		}
		if len(d.fleet.Mirrors) > 0 {
			m.spectator = d.fleet.Join(context.WithoutCancel(ctx), d.game, m.name, -1, nil, urls(d.fleet.Mirrors, i))
		}
		d.matches = append(d.matches, m)
	}
	if err := d.play(ctx); err != nil {
		return err
	}
	return d.judge()
}

func (d *demonstration) play(ctx context.Context) error {
	const comeback = 5 * time.Second // of a killed server
	end := time.After(d.c.Duration("time"))
	kill := time.NewTicker(max(d.c.Duration("every"), comeback+time.Second))
	defer kill.Stop()
	show := time.NewTicker(5 * time.Second)
	defer show.Stop()
	dead, back := -1, (<-chan time.Time)(nil)
	for {
		select {
		case <-kill.C:
			d.look(ctx)
			most := 0
			for i, s := range d.fleet.Servers {
				n := 0
				for _, m := range d.matches {
					if m.server == s.Name {
						n++
					}
				}
				if n > most {
					dead, most = i, n
				}
			}
			if most == 0 {
				continue
			}
			d.say("%s is killed, with %d matches", d.fleet.Servers[dead].Name, most)
			d.fleet.Servers[dead].Kill()
			d.result.Kills++
			back = time.After(comeback)
		case <-back:
			if err := d.fleet.Restart(ctx, dead); err != nil {
				return err
			}
			d.say("%s is back", d.fleet.Servers[dead].Name)
			back = nil
		case <-show.C:
			d.look(ctx)
			d.show(d.c.App.ErrWriter)
		case <-end:
			d.look(ctx)
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (d *demonstration) say(format string, args ...any) {
	fmt.Fprintf(d.c.App.ErrWriter, "%5.1fs  %s\n", time.Since(d.began).Seconds(), fmt.Sprintf(format, args...))
}

// look reads the directory.
func (d *demonstration) look(ctx context.Context) {
	for _, m := range d.matches {
		e, server, err := d.fleet.Owner(ctx, m.name)
		if err != nil {
			continue
		}
		if m.server = ""; server >= 0 {
			m.server = d.fleet.Servers[server].Name
		}
		m.term = e.Term
	}
}

func (d *demonstration) show(w io.Writer) {
	for _, m := range d.matches {
		p, q := m.players[0].Seen(), m.players[1].Seen()
		row := fmt.Sprintf("         %-9s %-9s term %-2d  ticks %d and %d, longest pause %.1f s", m.name, m.server, m.term, p.Tick, q.Tick, max(p.Longest, q.Longest).Seconds())
		if m.spectator != nil {
			row += fmt.Sprintf(", seen by a mirror up to %d", m.spectator.Seen().Tick)
		}
		fmt.Fprintln(w, row)
	}
}

func (d *demonstration) judge() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	d.say("the matches are ended and verified")
	for _, m := range d.matches {
		if err := d.fleet.End(ctx, d.fleet.Servers[0], m.name); err != nil {
			return err
		}
	}
	right := true
	for _, m := range d.matches {
		for _, p := range m.players {
			select {
			case <-p.Done():
			case <-ctx.Done():
				return fmt.Errorf("%s: a player was not told of the end", m.name)
			}
		}
		path, err := d.fleet.Replay(ctx, m.name)
		if err != nil {
			return err
		}
		if m.judgement, err = fleet.Judge(path, d.game, m.players); err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(path), err)
		}
		right = right && m.judgement.Right()
		r, j := &d.result, m.judgement
		r.Takeovers, r.Ticks, r.Moved, r.Replays = r.Takeovers+int(m.term)-1, r.Ticks+j.Ticks, r.Moved+j.Moved, r.Replays+1
		r.Commands, r.Lost, r.LostTicks = r.Commands+j.Accepted, r.Lost+j.Lost+j.Twice, max(r.LostTicks, j.LostTicks)
		r.Checked, r.Differed = r.Checked+j.Checked+j.Seen, r.Differed+j.Differed+j.Desyncs+j.Forked
		for _, p := range m.players {
			r.LongestMS = max(r.LongestMS, p.Seen().Longest.Milliseconds())
		}
	}
	d.result.Seconds = time.Since(d.began).Seconds()
	var err error
	if !right {
		err = fmt.Errorf("something is lost; the files are in %s", d.dir)
	}
	return tool.Tell(d.c, d.result, d.print, err)
}

func (d *demonstration) print(w io.Writer) {
	r := &d.result
	fmt.Fprintf(w, "servers     killed %d times; %d takeovers of matches\n", r.Kills, r.Takeovers)
	fmt.Fprintf(w, "players     the longest pause was %.1f s\n", float64(r.LongestMS)/1000)
	fmt.Fprintf(w, "commands    %d accepted, %d lost, %d moved to a later tick; %d ticks lost\n", r.Commands, r.Lost, r.Moved, r.LostTicks)
	fmt.Fprintf(w, "replays     %d, with %d ticks; %d checksums compared, %d differ\n", r.Replays, r.Ticks, r.Checked, r.Differed)
}
