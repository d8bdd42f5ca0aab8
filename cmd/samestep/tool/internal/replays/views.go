//go:build !js

package replays

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/feed"
	"github.com/seed-49bee653/samestep/replay"
)

func replayFeedCommand() *cli.Command {
	return &cli.Command{
		Name:      "feed",
		Usage:     "print what a player, a team or a spectator of a replay could see",
		ArgsUsage: "FILE",
		Description: `Simulates the match, and makes the views of a viewer by the rules of the game.

With --tick it prints the view of that tick, as text or as JSON. With --json alone it
prints all views, one in a line, with the bytes that a server sends for each. Without
both it prints how many bytes that are.`,
		Flags: []cli.Flag{
			console.JSONFlag,
			&cli.StringFlag{Name: "viewer", Usage: "`WHO` sees it: player:N, team:N, spectator or role:NAME"},
			&cli.UintFlag{Name: "tick", Usage: "print the view of tick `T`", DefaultText: "all"},
			&cli.UintFlag{Name: "every", Usage: "make a view every `N` ticks", Value: 2},
			&cli.UintFlag{Name: "budget", Usage: "send at most `BYTES` for a view, and the rest later", DefaultText: "no limit"},
			gameset.MaxTicksFlag, gameset.AssetsFlag,
		},
		Action: gameset.OnReplay(replayFeed),
	}
}

// A feedSum is what the views of a match cost.
type feedSum struct {
	Viewer  string  `json:"viewer"`
	Views   int     `json:"views"`
	Ticks   uint32  `json:"ticks"`
	Bytes   int     `json:"bytes"`   // of all deltas
	Largest int     `json:"largest"` // bytes of the largest delta, after the first view
	Full    int     `json:"full"`    // bytes of all views
	Seconds float64 `json:"-"`
}

// WriteText writes the sum for people.
func (s *feedSum) WriteText(w io.Writer) error {
	p := words.Page{}
	p.Line("viewer", "%s", s.Viewer)
	p.Line("views", "%d in %s", s.Views, words.Count(s.Ticks, "tick"))
	p.Line("sent", "%s, %s a second, the largest %s", words.Size(s.Bytes), words.Size(int(float64(s.Bytes)/max(s.Seconds, 1))), words.Size(s.Largest))
	p.Line("whole", "%s in all views, 1/%.1f of it is sent", words.Size(s.Full), float64(s.Full)/float64(max(s.Bytes, 1)))
	return p.Write(w)
}

// A feedLine is one view as a line of JSON.
type feedLine struct {
	Tick   lockstep.Tick   `json:"tick"`
	Viewer string          `json:"viewer"`
	Bytes  int             `json:"bytes,omitempty"` // of the delta; not of a live match
	View   json.RawMessage `json:"view"`
}

func replayFeed(c *cli.Context, f *replay.File) error {
	if !c.IsSet("viewer") {
		return console.Usagef("want --viewer WHO")
	}
	viewer, err := lockstep.ParseViewer(c.String("viewer"))
	if err != nil {
		return console.Usagef("--viewer: %v", err)
	}
	every := gameset.TickOf(c, "every")
	if every == 0 {
		return console.Usagef("--every: got 0, want 1 or more ticks")
	}
	game, header, r, err := viewed(c, f)
	if err != nil {
		return err
	}
	if c.IsSet("tick") {
		return feedAt(c, r, game, viewer, gameset.TickOf(c, "tick"))
	}
	cursor, err := replay.NewCursor(r, game, 0)
	if err != nil {
		return err
	}
	plan, err := feed.NewPlan(game.ViewSchema(), game.ViewTags())
	if err != nil {
		return err
	}
	sender, sum, out := feed.NewSender(plan), feedSum{Viewer: viewer.String()}, bufio.NewWriter(c.App.Writer)
	var view []byte
	for limit := gameset.MaxTicks(c); ; {
		if cursor.Tick()%every == 0 {
			if view, err = cursor.Simulation().AppendView(view[:0], viewer); err != nil {
				return err
			}
			if err := sender.Set(view, int(c.Uint("budget"))); err != nil {
				return err
			}
			_, delta := sender.Delta(sender.Number() - 1)
			if sum.Views++; sum.Views > 1 {
				sum.Largest = max(sum.Largest, len(delta))
			}
			sum.Full, sum.Bytes = sum.Full+len(view), sum.Bytes+len(delta)
			if c.Bool(console.JSONFlag.Name) {
				if err := FeedTo(out, game, cursor.Tick(), viewer.String(), len(delta), sender.AppendView(view[:0])); err != nil {
					return err
				}
			}
		}
		if limit > 0 && cursor.Tick() >= limit {
			break
		}
		if err := cursor.Step(); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break
		} else if err != nil {
			return err
		}
	}
	sum.Ticks = uint32(cursor.Tick())
	sum.Seconds = float64(header.Settings.Micros(int64(sum.Ticks))) / 1e6
	if c.Bool(console.JSONFlag.Name) {
		return out.Flush()
	}
	return sum.WriteText(c.App.Writer)
}

// viewed returns the game of a file, which must have views.
func viewed(c *cli.Context, f *replay.File) (*lockstep.Game, *lockstep.Header, *replay.Reader, error) {
	game, header, err := gameset.GameIn(c, f)
	if err != nil {
		return nil, nil, nil, err
	}
	if game.ViewSchema() == nil {
		return nil, nil, nil, &console.ClassError{Class: replay.ClassIdentity, Text: fmt.Sprintf("the rules of %s have no views (Rules.View)", game.Name())}
	}
	r, err := f.Reader()
	return game, header, r, err
}

// FeedTo writes a view as a line.
func FeedTo(w io.Writer, g *lockstep.Game, t lockstep.Tick, viewer string, bytesSent int, view []byte) error {
	var text bytes.Buffer
	if err := g.ViewSchema().DumpJSON(&text, view); err != nil {
		return err
	}
	return console.WriteLine(w, feedLine{t, viewer, bytesSent, bytes.TrimSpace(text.Bytes())})
}

func feedAt(c *cli.Context, r *replay.Reader, g *lockstep.Game, viewer lockstep.Viewer, t lockstep.Tick) error {
	cursor, err := replay.NewCursor(r, g, t)
	if err != nil {
		return err
	}
	for cursor.Tick() < t {
		if err := cursor.Step(); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return console.Usagef("tick %d: the replay ends at tick %d", t, cursor.Tick())
		} else if err != nil {
			return err
		}
	}
	view, err := cursor.Simulation().AppendView(nil, viewer)
	if err != nil {
		return err
	}
	if c.Bool(console.JSONFlag.Name) {
		return g.ViewSchema().DumpJSON(c.App.Writer, view)
	}
	return g.ViewSchema().Dump(c.App.Writer, view)
}

// AuditCommand returns the verb audit.
func AuditCommand() *cli.Command {
	return &cli.Command{
		Name:      "audit",
		Usage:     "list commands that refer to what their player had never seen",
		ArgsUsage: "FILE [FILE...]",
		Description: `Simulates matches, and follows what each player has seen by the views of the rules. A
player who reads what the fog hides refers to elements that no view has shown: audit lists
such commands, and how many there would be if a player had named elements by chance. The
rules say which fields of commands refer to elements: feed:"of=Units" (docs/feed.md).`,
		Flags:  []cli.Flag{&cli.IntFlag{Name: "player", Usage: "only player `N`", DefaultText: "all players", Value: -1}, gameset.MaxTicksFlag, gameset.AssetsFlag, console.JSONFlag},
		Action: audit,
	}
}

func audit(c *cli.Context) error {
	if c.NArg() == 0 {
		return console.Usagef("want a replay")
	}
	player := c.Int("player")
	if player < -1 || player >= int(lockstep.MaxPlayers) {
		return console.Usagef("--player: got %d, want 0 to %d", player, lockstep.MaxPlayers-1)
	}
	for _, name := range c.Args().Slice() {
		var players []replay.Audit
		err := gameset.WithReplay(name, func(f *replay.File) error {
			game, _, r, err := viewed(c, f)
			if err != nil {
				return err
			}
			players, err = replay.AuditPlayers(r, game, replay.SimulateOptions{MaxTicks: gameset.MaxTicks(c)})
			if errors.Is(err, replay.ErrNoReferences) {
				err = &console.ClassError{Class: replay.ClassIdentity, Text: err.Error()}
			}
			return err
		})
		switch {
		case err != nil:
			return err
		case player >= len(players):
			return console.Usagef("--player: %s has players 0 to %d", name, len(players)-1)
		case player >= 0:
			players = players[player : player+1]
		}
		if c.Bool(console.JSONFlag.Name) {
			if err := console.WriteLine(c.App.Writer, struct {
				File    string         `json:"file"`
				Players []replay.Audit `json:"players"`
			}{name, players}); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintln(c.App.Writer, console.Shown(name))
		line := console.NewLiner(c.App.Writer)
		for _, p := range players {
			line(fmt.Sprintf("player %d", p.Player), "%s, %s; %d to what it had not seen, by chance %.1f", console.Count(p.Commands, "command"), console.Count(p.References, "reference"), len(p.Unseen), p.Expected)
			for _, u := range p.Unseen {
				fmt.Fprintf(c.App.Writer, "  tick %d: %s: %s %d, one of %d not seen of %d\n", u.Tick, console.Shown(u.Command), u.List, u.ID, u.Unseen, u.Elements)
			}
		}
	}
	return nil
}
