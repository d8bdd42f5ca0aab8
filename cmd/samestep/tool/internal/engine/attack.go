//go:build !js

package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/internal/testing/attack"
	"github.com/seed-49bee653/samestep/internal/testing/netload"
)

// AttackCommand returns the verb attack.
func AttackCommand() *cli.Command {
	return &cli.Command{
		Name:  "attack",
		Usage: "attack a server on this machine, and measure what honest players notice",
		Description: `Honest players play a match while its server is attacked in every way of the catalogue
(--list), one after another. For each attack it prints what the players noticed and what
it cost. Every attack gets its own server, "samestep serve" in another process, and the
attackers run in a third one.

The match has 16 seats, 8 of them for honest players, or as many seats as the game
has, at least 2. In a match of fewer than 16 seats, half of them are for honest
players, and newcomers watch.

Exits with 1 if an honest player or a newcomer with a valid token was disconnected
or refused, a checksum is missing or differs, half of the ticks are missing, or an
attack succeeded. With --strict, also if frames are late, newcomers wait for a
second, or the server takes 25 % more of a core. Use --strict only on an idle
machine: on a busy one, frames are late even without an attack.`,
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "attack", Usage: "run only attack `NAME`; repeat the flag for several"},
			&cli.BoolFlag{Name: "list", Usage: "list the attacks"},
			&cli.DurationFlag{Name: "time", Value: 4 * time.Second, Usage: "duration of each attack, 1s to 10m, in two halves; each half follows the same time without an attack"},
			&cli.BoolFlag{Name: "strict", Usage: "also fail for results that depend on the speed of the machine"},
			&cli.DurationFlag{Name: "late", Value: 5 * time.Millisecond, Usage: "with --strict: how much later the 99th percentile of frames may be"},
			gameset.GameFlag,
			&cli.BoolFlag{Name: "hands", Hidden: true, Usage: "run the attackers, with a job from standard input"},
			console.JSONFlag,
		},
		Action: runAttack,
	}
}

func runAttack(c *cli.Context) error {
	g, err := gameset.ChosenGame(c)
	if err != nil {
		return err
	}
	switch {
	case c.Bool("hands"):
		return runHands(c)
	case c.Bool("list"):
		return listAttacks(c)
	}
	all, err := chosenAttacks(c)
	if err != nil {
		return err
	}
	x := &attacker{game: g, time: c.Duration("time"), log: c.App.ErrWriter}
	if x.program, err = os.Executable(); err != nil {
		return err
	}
	if x.seats, err = attackedSeats(g); err != nil {
		return err
	}
	return x.all(c, all)
}

func chosenAttacks(c *cli.Context) (all []*attack.Attack, err error) {
	if err := console.Between(c, "time", time.Second, 10*time.Minute); err != nil {
		return nil, err
	}
	for _, name := range c.StringSlice("attack") {
		a, err := attack.Named(name)
		if err != nil {
			return nil, console.Usagef("--attack: %v", err)
		}
		all = append(all, a)
	}
	if len(all) == 0 {
		all = attack.All()
	}
	return all, nil
}

func listAttacks(c *cli.Context) error {
	type row struct {
		Row   int    `json:"row"`
		Name  string `json:"name"`
		About string `json:"about"`
	}
	var rows []row
	for _, a := range attack.All() {
		rows = append(rows, row{a.Row, a.Name, a.About})
	}
	return gameset.Tell(c, rows, func(w io.Writer) {
		for _, r := range rows {
			fmt.Fprintf(w, "%2d  %-9s  %s\n", r.Row, r.Name, r.About)
		}
	}, nil)
}

// attackedSeats returns the number of seats of the attacked match.
func attackedSeats(g *gameset.Playable) (int, error) {
	units := g.SizeOf(attackUnits)
	seats := g.MostSeats(attack.MostSeats, attack.MostSeats, units, nil)
	config, err := g.Configure(seats, units, nil)
	if err == nil {
		err = g.Accepts(seats, 1, config)
	}
	if err != nil {
		return 0, fmt.Errorf("game %s refuses the match of %s that is to be attacked: %w", g.Name(), console.Count(int(seats), "seat"), err)
	}
	if seats < attack.FewestSeats {
		return 0, fmt.Errorf("got a match of %s of game %s, want at least %d: one for an honest player and one for attackers", console.Count(int(seats), "seat"), g.Name(), attack.FewestSeats)
	}
	return int(seats), nil
}

// attackUnits is the number of units of the attacked match, if the game knows units.
const attackUnits = 200

type attacker struct {
	game    *gameset.Playable
	program string // of samestep
	time    time.Duration
	seats   int // of the match
	log     io.Writer
}

func (x *attacker) all(c *cli.Context, attacks []*attack.Attack) error {
	ctx, stop := console.Interruptible(c)
	defer stop()
	results := []*attack.Result{}
	if !c.Bool("json") {
		if x.seats < attack.MostSeats {
			fmt.Fprintf(c.App.Writer, "%s has %s: %s, and newcomers watch\n", x.game.Name(), console.Count(x.seats, "seat"), console.Count(attack.Honest(x.seats), "honest player"))
		}
		fmt.Fprintln(c.App.Writer, attack.Header)
	}
	for _, a := range attacks {
		r, err := x.one(ctx, a)
		if ctx.Err() != nil {
			return console.ErrInterrupted
		}
		if err != nil {
			return fmt.Errorf("attack %s: %w", a.Name, err)
		}
		if c.Bool("strict") {
			r.Strict(c.Duration("late"))
		}
		if results = append(results, r); !c.Bool("json") {
			r.WriteText(c.App.Writer)
		}
	}
	return gameset.Tell(c, results, func(w io.Writer) { attack.WriteVerdict(w, results) }, attack.Failure(results))
}

// one runs one attack, on a server of its own.
func (x *attacker) one(ctx context.Context, a *attack.Attack) (*attack.Result, error) {
	dir, err := os.MkdirTemp("", "samestep-attack-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	s, process, err := x.serve(dir, a)
	if err != nil {
		return nil, err
	}
	defer process.Stop()
	r, err := attack.Run(ctx, a, s, attack.Options{
		Game: x.game.Game, Think: x.game.Bot, Time: x.time, Attackers: x.hands, Program: x.program, Files: dir, Units: x.game.Sized != nil,
	})
	if err == nil && len(r.Failures) == 0 {
		return r, nil
	}
	if b, missing := os.ReadFile(logOf(dir)); missing == nil {
		x.log.Write(b[max(0, len(b)-maxServerLog):])
	}
	return r, err
}

// maxServerLog bounds the bytes of a server's log that are shown if an attack fails.
const maxServerLog = 4 << 10

func logOf(dir string) string { return filepath.Join(dir, "server.log") }

// serve starts a server for an attack.
func (x *attacker) serve(dir string, a *attack.Attack) (*attack.Server, *netload.Server, error) {
	const match = "match-1"
	var list bytes.Buffer
	tokens, replays := filepath.Join(dir, "tokens"), filepath.Join(dir, "replays")
	err := attack.WriteTokens(&list, match, x.seats)
	if err == nil {
		err = os.WriteFile(tokens, list.Bytes(), 0o600)
	}
	if err != nil {
		return nil, nil, err
	}
	flags := []string{"--game", x.game.Name(), "--dir", replays, "--tokens", tokens, "--players", strconv.Itoa(x.seats)}
	flags = append(flags, "--config", string(x.game.WithUnits(nil, attackUnits)))
	if a.Serve != nil {
		more, err := a.Serve(dir)
		if err != nil {
			return nil, nil, err
		}
		flags = append(flags, more...)
	}
	log, err := os.OpenFile(logOf(dir), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, err
	}
	defer log.Close()
	p, err := netload.StartServer(x.program, log, flags)
	if err != nil {
		return nil, nil, err
	}
	s := &attack.Server{URL: p.URL, Match: match, Dir: replays, CPU: p.CPU, Memory: p.Resident}
	if s.Tokens, _, err = attack.ReadTokens(&list); err != nil {
		p.Stop()
		return nil, nil, err
	}
	return s, p, nil
}

// hands runs a job in a process with one CPU and low priority, so that attackers do not slow down the honest players themselves.
func (x *attacker) hands(ctx context.Context, j attack.Job) (r attack.Report, err error) {
	ctx, cancel := context.WithTimeout(ctx, j.Time+time.Minute)
	defer cancel()
	job, err := json.Marshal(j)
	if err != nil {
		return r, err
	}
	p := exec.CommandContext(ctx, x.program, "attack", "--hands", "--game", x.game.Name())
	p.Env = append(os.Environ(), "GOMAXPROCS=1")
	p.Stdin, p.Stderr = bytes.NewReader(job), os.Stderr
	out, err := p.Output()
	if err != nil {
		return r, fmt.Errorf("the attackers: %w", err)
	}
	return r, json.Unmarshal(out, &r)
}

func runHands(c *cli.Context) error {
	console.BeNice()
	j, err := attack.ReadJob(os.Stdin)
	if err != nil {
		return err
	}
	g, err := gameset.Listed(c).Named(j.Game)
	if err != nil {
		return err
	}
	r, err := attack.Work(c.Context, j, g.Game)
	if err != nil {
		return err
	}
	return console.WriteJSON(c.App.Writer, r)
}
