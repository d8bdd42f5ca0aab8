//go:build !js && !wasip1

package web_test

import (
	"fmt"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/browser"
)

// The panels of two browsers show the same checksums of each tick. In both, the row of a player that differs is marked until it
// agrees again.
func TestHashesOfPlayers(t *testing.T) {
	s := newStage(t, setup{checkEvery: 20})
	b, other := s.play(0), s.play(1)
	type table struct {
		Ticks  []int
		Hashes [][]string // by row
	}
	read := func(tab *browser.Tab) table {
		return browser.Value[table](tab, `(rows => ({
			Ticks: [...rows[0].cells].slice(1).map((c) => Number(c.textContent)), Hashes: rows.slice(1).map((r) => [...r.cells].slice(1).map((c) => c.textContent)),
		}))([...document.querySelectorAll(".hashes tr")])`)
	}
	for seat, tab := range []*browser.Tab{b, other} {
		tab.Agree(2)
		tab.Click(`.menu button[title^="checksums"]`)
		tab.Until(`document.querySelectorAll(".hashes tbody tr").length === 3`) // the match and two players
		tab.Shown(fmt.Sprintf(`.hashes [data-seat="%d"] th`, seat), ", here")
	}
	same := 0
	for range 20 {
		x, y := read(b), read(other)
		for i, tick := range x.Ticks {
			for j, at := range y.Ticks {
				mine, match, theirs := x.Hashes[1][i], x.Hashes[0][i], y.Hashes[2][j]
				if tick != at || len(mine) != 8 || len(theirs) != 8 {
					continue
				}
				if same++; mine != theirs || mine != match || x.Hashes[2][i] != "=" {
					t.Errorf("tick %d: got %s and %s of player 0 and %s of player 1, want the match's %s", tick, mine, x.Hashes[2][i], theirs, match)
				}
			}
		}
		if same > 3 {
			break
		}
	}
	if same == 0 {
		t.Errorf("no tick is shown by both: %v, %v", read(b), read(other))
	}
	b.Click(`#corrupt`)
	b.Until(`document.querySelector('.hashes .differs[data-seat="0"] td.ours')`)
	other.Until(`document.querySelector('.hashes .differs[data-seat="0"] td.ours')`)
	if n := browser.Value[int](other, `document.querySelectorAll(".hashes .differs").length`); n > 1 {
		t.Errorf("%d rows are marked in the other browser, want that of player 0 alone", n)
	}
	other.Shot("other")
	for _, tab := range []*browser.Tab{b, other} {
		tab.Until(`!document.querySelector(".hashes .differs")`)
	}
	b.Agree(1)
	other.NeverDiffered()
}
