// Package attack has a catalogue of attacks on a live server, and measures each one
// beside honest players: what they notice, and what it costs the server. It is behind
// "samestep attack".
//
// A new attack is one file of this package, which registers an [Attack]:
//
//	var _ = register(&Attack{
//		Row: 16, Name: "echo", About: "players send each command twice",
//		Run: func(ctx context.Context, h *Hands) error {
//			return h.repeat(ctx, 4, 100, func(ctx context.Context, n int) error { … })
//		},
//	})
//
// Three processes take part, so that each one's work can be measured apart: the
// server, the attackers ([Work]), and the honest players with everything else
// ([Run]). All connections lead to loopback addresses; others are refused when they
// are dialled, too.
package attack

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
)

// An Attack is what hostile people do to a server.
type Attack struct {
	Row   int    // in the catalogue of docs/threat-model.md
	Name  string // one word
	About string // what is done, in a line

	// Serve returns the flags that "samestep serve" needs for it, besides its
	// defaults. It may write files into dir. Nil for none.
	Serve func(dir string) ([]string, error)

	// Lasts says that what was done goes on when the attackers have gone. Nothing after
	// the first half is compared with then.
	Lasts bool

	// Late is how much later frames may be because the operator has said so: with
	// --wait a match waits for the slowest player, within a budget.
	Late time.Duration

	// Run attacks until ctx ends. An error means that it could not: nothing of the
	// server is judged then. [ErrUnfit] means that the server is not one for this.
	Run func(ctx context.Context, h *Hands) error
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

// Named returns the attack of a name.
func Named(name string) (*Attack, error) {
	for _, a := range catalogue {
		if a.Name == name {
			return a, nil
		}
	}
	return nil, fmt.Errorf("attack: got %q, want one of %s", name, names())
}

// names returns the names of all attacks.
func names() (list string) {
	for i, a := range All() {
		if i > 0 {
			list += ", "
		}
		list += a.Name
	}
	return list
}
