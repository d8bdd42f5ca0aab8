// Package attack attacks a live server while honest players play on it, and measures
// what they notice and what the attack costs the server. The command "samestep attack"
// runs it.
//
// Each attack is one file of this package, which registers an [Attack]:
//
//	var _ = register(&Attack{
//		Row: 16, Name: "echo", About: "players send each command twice",
//		Run: func(ctx context.Context, h *Attackers) error {
//			return h.repeat(ctx, 4, 100, func(ctx context.Context, n int) error { … })
//		},
//	})
//
// Three processes take part, so that the processor time of each is measured apart: the
// server, the attackers ([Work]), and the honest players with everything else
// ([Run]). The attackers connect to loopback addresses only: the dialer refuses others.
package attack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
)

// An Attack is one way to attack a server.
type Attack struct {
	Row   int    // number in the review of November 2026, see docs/threat-model.md
	Name  string // one word
	About string // what the attackers do, in one line

	// Serve returns the flags that "samestep serve" needs for the attack. It may write
	// files into dir. Nil: the defaults.
	Serve func(dir string) ([]string, error)

	// Lasts says that the attack still has effects after the attackers have gone. The
	// second half is then compared with the calm time before the first.
	Lasts bool

	// Late is how much later frames may be because the server's flags allow it: with
	// --wait a match waits for the slowest player, within a budget.
	Late time.Duration

	// Joins says that newcomers come with "samestep join", as people do, and not with a WebSocket only.
	Joins bool

	// Run attacks until ctx ends. An error means that the attack was not possible, and
	// says nothing about the server. errUnfit means that the server needs other flags, and errOpen that the game hides nothing.
	Run func(ctx context.Context, h *Attackers) error
}

var catalogue []*Attack

// register adds an attack to the catalogue.
func register(a *Attack) *Attack {
	catalogue = append(catalogue, a)
	return a
}

// All returns the catalogue, in the order of its rows.
func All() []*Attack {
	return slices.SortedFunc(slices.Values(catalogue), func(a, b *Attack) int { return cmp.Compare(a.Row, b.Row) })
}

// Named returns the attack with a name.
func Named(name string) (*Attack, error) {
	var names []string
	for _, a := range All() {
		if a.Name == name {
			return a, nil
		}
		names = append(names, a.Name)
	}
	return nil, fmt.Errorf("got %q, want one of %s", name, strings.Join(names, ", "))
}

// Work does a job until its time is over or ctx ends, and returns its report.
func Work(ctx context.Context, j Job, g *lockstep.Game) (Report, error) {
	a, err := Named(j.Attack)
	if err == nil {
		err = CheckURL(ctx, j.Server)
	}
	if err != nil {
		return Report{}, err
	}
	h := &Attackers{Job: j, game: g, report: Report{Told: map[string]int{}}}
	h.client, h.near = h.httpClient(j.From), h.httpClient("")
	defer h.client.CloseIdleConnections()
	defer h.near.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(ctx, j.Time)
	defer cancel()
	err = a.Run(ctx, h)
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case errors.Is(err, errUnfit), errors.Is(err, errOpen):
		h.report.Skipped = err.Error()
	case err != nil && ctx.Err() == nil:
		return h.report, fmt.Errorf("%s: %w", a.Name, err)
	}
	return h.report, nil
}
