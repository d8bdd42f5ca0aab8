package attack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/internal/testing/prober"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

const (
	// maxHidden is how many hidden things are looked for.
	maxHidden = 48

	// probesPerTick is the number of commands that the player gives for a tick.
	probesPerTick = 4

	// candidates are the commands from which one is chosen.
	candidates = 64
)

var _ = register(&Attack{
	Row: 21, Name: "probes", About: "a player gives commands of every kind that may concern what it does not see; the answers are compared with those to a player for whom a hidden thing does not exist",
	Run: func(ctx context.Context, h *Attackers) error {
		if h.game.ViewSchema() == nil {
			return errOpen
		}
		x := &probes{attackers: h, asked: map[lockstep.Sequence]probe{}}
		x.player = participant{often: 1, most: probesPerTick, think: x.think, gave: x.gave, answer: x.answer}
		if err := x.player.join(ctx, h.client, h.Server, h.Match, h.game, player.Options{Token: h.Tokens.Holders[len(h.Tokens.Holders)-1]}); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-x.player.done:
		}
		x.player.end()
		if x.err == nil && len(x.hidden) == 0 {
			x.err = errors.New("the player sees everything")
		}
		h.try(fmt.Sprintf("hidden things found: %d of %d", x.found, len(x.hidden)))
		return x.err
	},
})

// probes are what the player asks. The participant's goroutine alone uses them.
type probes struct {
	attackers  *Attackers
	player     participant
	seat       lockstep.Player
	prober     *prober.Prober
	payloads   *record.Payloads
	with, twin *lockstep.Simulation // a state, and one without a hidden thing
	state      []byte
	hidden     []*hidden
	seen       []string // paths of elements that the player sees, such as its own units
	next       int
	given      []probe // of the last call
	asked      map[lockstep.Sequence]probe
	found      int
	err        error
}

// A hidden is an element of the state that can be absent without a difference in the player's view.
type hidden struct {
	path    string
	without []byte
	found   bool
}

// A probe is a command about a hidden thing.
type probe struct {
	about   *hidden
	command lockstep.Command
	words   string
	told    [2]string // by the rules with the hidden thing, and without it
}

// think returns commands that may concern hidden things. The player has the state, as every client that simulates, to know whether
// an answer tells something.
func (x *probes) think(sim *lockstep.Simulation) (values []any) {
	if x.err == nil && x.prober == nil {
		x.seat = x.player.client.Status().Seat
		x.err = x.begin(sim)
	}
	if x.err == nil {
		x.payloads.Reset()
	}
	x.given = x.given[:0]
	for range 4 * probesPerTick {
		if x.err != nil || len(x.hidden) == 0 || len(values) == probesPerTick {
			break
		}
		if v := x.ask(); v != nil {
			values = append(values, v)
		}
	}
	return values
}

// begin looks for hidden things in the present state.
func (x *probes) begin(sim *lockstep.Simulation) (err error) {
	g, header := x.attackers.game, sim.Header()
	if x.prober, err = prober.New(header.Settings.Seed, g); err != nil {
		return err
	}
	x.payloads = g.NewPayloads()
	if x.with, err = g.AwaitState(header); err == nil {
		x.twin, err = g.AwaitState(header)
	}
	if err != nil {
		return err
	}
	x.state = sim.AppendState(nil)
	if err := x.with.Restore(sim.Tick(), x.state); err != nil {
		return err
	}
	viewer := x.with.ViewerOf(x.seat)
	view, err := x.with.AppendView(nil, viewer)
	if err != nil {
		return err
	}
	leaves, err := g.StateSchema().Leaves(x.state)
	if err != nil {
		return err
	}
	var paths []string
	for leaf := range leaves {
		if end := strings.IndexByte(leaf.Path, ']'); end > 0 && (len(paths) == 0 || paths[len(paths)-1] != leaf.Path[:end+1]) {
			paths = append(paths, leaf.Path[:end+1])
		}
	}
	var b []byte
	for tries := 0; len(paths) > 0 && len(x.hidden) < maxHidden && tries < 20*maxHidden; tries++ {
		path := paths[x.prober.IntN(len(paths))]
		without := prober.Without(g.StateSchema(), x.state, path)
		if without == nil || slices.ContainsFunc(x.hidden, func(h *hidden) bool { return h.path == path }) || x.twin.Restore(sim.Tick(), without) != nil {
			continue
		}
		if b, err = x.twin.AppendView(b[:0], viewer); err == nil && bytes.Equal(b, view) {
			x.hidden = append(x.hidden, &hidden{path: path, without: without})
		} else {
			x.seen = append(x.seen, path)
		}
	}
	return nil
}

// ask returns a command about the next hidden thing, or nil: of some, one whose answer tells of it, or else one that the rules refuse.
// Others might change the match, such as a surrender.
func (x *probes) ask() any {
	about := x.hidden[x.next%len(x.hidden)]
	x.next++
	paths := []string{about.path}
	if len(x.seen) > 0 {
		paths = append(paths, x.seen[x.prober.IntN(len(x.seen))])
	}
	x.prober.Hint(x.attackers.game.StateSchema(), x.state, about.without, paths...)
	if x.twin.Restore(x.with.Tick(), about.without) != nil {
		return nil
	}
	var best *probe
	for range candidates {
		p := x.candidate(about)
		if p == nil {
			continue
		}
		if p.told[0] != p.told[1] {
			best = p
			break
		}
		if best == nil && p.told[0] != accepted {
			best = p
		}
	}
	if best == nil || x.payloads.Decode(&best.command) != nil {
		return nil
	}
	x.given = append(x.given, *best)
	return best.command.Value
}

// candidate returns a command about a hidden thing, and what the rules say to it, or nil.
func (x *probes) candidate(about *hidden) *probe {
	kind, c := x.prober.IntN(len(x.attackers.game.Commands())), lockstep.Command{Tick: x.with.Tick() + 2, Sequence: 1}
	if !x.prober.Command(&c, x.seat, kind) {
		return nil
	}
	p := &probe{about: about, words: x.prober.Words(kind, &c), command: c}
	for i, sim := range []*lockstep.Simulation{x.with, x.twin} {
		err := sim.Validate(&c)
		if fault := (*lockstep.PanicError)(nil); errors.As(err, &fault) {
			return nil // no match reaches such a state
		}
		p.told[i] = answered(err == nil, fmt.Sprint(err))
	}
	x.prober.Note(&c, kind, p.told[0])
	return p
}

const accepted = "accepted"

func answered(yes bool, detail string) string {
	if yes {
		return accepted
	}
	return "refused: " + detail
}

// gave notes the sequence of a command.
func (x *probes) gave(i int, seq lockstep.Sequence) { x.asked[seq] = x.given[i] }

// answer compares the server's answer with those of the rules.
func (x *probes) answer(r lockstep.Receipt) {
	p, ok := x.asked[r.Sequence]
	delete(x.asked, r.Sequence)
	if !ok {
		return
	}
	if r.Reason != lockstep.Accepted && r.Reason != lockstep.Refused {
		x.attackers.try(r.Reason.String())
		return
	}
	told := answered(r.Reason == lockstep.Accepted, r.Detail)
	outcome, _, _ := strings.Cut(told, ":")
	if told != p.told[0] {
		outcome += ", for the match has gone on"
	}
	if x.attackers.try(outcome); told != p.told[0] || p.told[0] == p.told[1] {
		return
	}
	x.attackers.win("%s: the player is told %q, and without %s, which it does not see, %q", p.words, told, p.about.path, p.told[1])
	if !p.about.found {
		p.about.found = true
		x.found++
	}
}
