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
			&cli.StringFlag{Name: "viewer", Usage: "`WHO` looks: player:N, team:N, spectator or role:NAME", Required: true},
			&cli.UintFlag{Name: "tick", Usage: "print the view of tick `T`"},
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

// A FeedLine is one view as a line of JSON.
type FeedLine struct {
	Tick   lockstep.Tick   `json:"tick"`
	Viewer string          `json:"viewer"`
	Bytes  int             `json:"bytes,omitempty"` // of the delta; not of a live match
	View   json.RawMessage `json:"view"`
}

func replayFeed(c *cli.Context, f *replay.File) error {
	viewer, err := lockstep.ParseViewer(c.String("viewer"))
	if err != nil {
		return console.Usagef("--viewer: %v", err)
	}
	every := gameset.TickOf(c, "every")
	if every == 0 {
		return console.Usagef("--every: got 0, want 1 or more ticks")
	}
	game, header, err := gameset.GameIn(c, f)
	if err != nil {
		return err
	}
	if game.ViewSchema() == nil {
		return &console.ClassError{Class: replay.ClassIdentity, Text: fmt.Sprintf("the rules of %s have no views (Rules.View)", game.Name())}
	}
	r, err := f.Reader()
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
			sum.add(len(view), len(delta))
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

// add counts a view.
func (s *feedSum) add(full, delta int) {
	if s.Views++; s.Views > 1 {
		s.Largest = max(s.Largest, delta)
	}
	s.Full += full
	s.Bytes += delta
}

// FeedTo writes a view as a line.
func FeedTo(w io.Writer, g *lockstep.Game, t lockstep.Tick, viewer string, bytesSent int, view []byte) error {
	var text bytes.Buffer
	if err := g.ViewSchema().DumpJSON(&text, view); err != nil {
		return err
	}
	return console.WriteLine(w, FeedLine{t, viewer, bytesSent, bytes.TrimSpace(text.Bytes())})
}

// feedAt prints the view of one tick.
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

// A fileAudit is the audits of one file.
type fileAudit struct {
	File    string         `json:"file"`
	Players []replay.Audit `json:"players"`
}

// WriteText writes the audits for people.
func (a *fileAudit) WriteText(w io.Writer) error {
	fmt.Fprintln(w, console.Shown(a.File))
	line := console.NewLiner(w)
	for i := range a.Players {
		p := &a.Players[i]
		line(fmt.Sprintf("player %d", p.Player), "%s, %s; %d to what it had not seen, by chance %.1f", console.Count(p.Commands, "command"), console.Count(p.References, "reference"), len(p.Unseen), p.Expected)
		for _, u := range p.Unseen {
			fmt.Fprintf(w, "  tick %d: %s: %s %d, one of %d not seen of %d\n", u.Tick, console.Shown(u.Command), u.List, u.ID, u.Unseen, u.Elements)
		}
	}
	return nil
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
		a, err := auditFile(c, name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if player >= 0 {
			if player >= len(a.Players) {
				return console.Usagef("--player: %s has players 0 to %d", name, len(a.Players)-1)
			}
			a.Players = a.Players[player : player+1]
		}
		if c.Bool(console.JSONFlag.Name) {
			err = console.WriteLine(c.App.Writer, a)
		} else {
			err = a.WriteText(c.App.Writer)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func auditFile(c *cli.Context, name string) (*fileAudit, error) {
	f, err := replay.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	game, _, err := gameset.GameIn(c, f)
	if err != nil {
		return nil, err
	}
	r, err := f.Reader()
	if err != nil {
		return nil, err
	}
	if game.ViewSchema() == nil {
		return nil, &console.ClassError{Class: replay.ClassIdentity, Text: fmt.Sprintf("the rules of %s have no views (Rules.View)", game.Name())}
	}
	all, err := replay.AuditPlayers(r, game, replay.SimulateOptions{MaxTicks: gameset.MaxTicks(c)})
	if errors.Is(err, replay.ErrNoReferences) {
		err = &console.ClassError{Class: replay.ClassIdentity, Text: err.Error()}
	}
	return &fileAudit{name, all}, err
}
