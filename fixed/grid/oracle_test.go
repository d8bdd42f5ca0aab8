package grid_test

import (
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/fixed/grid"
)

// A naive map is what the oracles of the tests use: a table of open cells.
type naive struct {
	columns, rows int
	open          []bool
}

// random returns a map with some per cent of blocked cells, in both forms.
func random(seed uint64, columns, rows uint16, percent uint32) (naive, grid.Shape, grid.Bits) {
	s := grid.Shape{Columns: columns, Rows: rows}
	n, b, dice := naive{int(columns), int(rows), make([]bool, s.Cells())}, s.NewBits(), fixed.NewRand(seed)
	for c := range n.open {
		n.open[c] = dice.N(100) >= percent
		x, y := s.XY(grid.Cell(c))
		b.Put(s, x, y, !n.open[c])
	}
	return n, s, b
}

func (n *naive) isOpen(x, y int) bool {
	return x >= 0 && y >= 0 && x < n.columns && y < n.rows && n.open[y*n.columns+x]
}

// moves are the steps of a unit with their costs, in the documented order.
var moves = [8][3]int{{1, 0, 2}, {1, 1, 3}, {0, 1, 2}, {-1, 1, 3}, {-1, 0, 2}, {-1, -1, 3}, {0, -1, 2}, {1, -1, 3}}

// step returns the cell that a move leads to, or -1.
func (n *naive) step(c int, m [3]int) int {
	x, y := c%n.columns, c/n.columns
	if !n.isOpen(x, y) || !n.isOpen(x+m[0], y+m[1]) || !n.isOpen(x+m[0], y) || !n.isOpen(x, y+m[1]) {
		return -1
	}
	return (y+m[1])*n.columns + x + m[0]
}

// costs returns the cost of the shortest way from every cell to a goal, or -1: it relaxes all cells until nothing changes.
func (n *naive) costs(goal int) []int {
	costs := make([]int, len(n.open))
	for c := range costs {
		costs[c] = -1
	}
	costs[goal] = 0
	for changed := true; changed; {
		changed = false
		for c := range costs {
			for _, m := range moves {
				if to := n.step(c, m); to >= 0 && costs[to] >= 0 && (costs[c] < 0 || costs[to]+m[2] < costs[c]) {
					costs[c], changed = costs[to]+m[2], true
				}
			}
		}
	}
	return costs
}

// search returns the way that Search documents, from one list of all waiting cells.
func (n *naive) search(from, to int) (way []int) {
	type waiting struct{ cell, cost, estimate int }
	costs, before := map[int]int{from: 0}, map[int]int{}
	estimate := func(c int) int {
		dx, dy := c%n.columns-to%n.columns, c/n.columns-to/n.columns
		dx, dy = max(dx, -dx), max(dy, -dy)
		return 2*max(dx, dy) + min(dx, dy)
	}
	for list := []waiting{{from, 0, estimate(from)}}; len(list) > 0; {
		best := 0
		for i := range list {
			if list[i].estimate <= list[best].estimate { // the newest of the least
				best = i
			}
		}
		top := list[best]
		list = append(list[:best], list[best+1:]...)
		if top.cell == to {
			for c := to; c != from; c = before[c] {
				way = append([]int{c}, way...)
			}
			return way
		}
		if costs[top.cell] != top.cost {
			continue
		}
		for _, m := range moves {
			next := n.step(top.cell, m)
			if old, known := costs[next]; next >= 0 && (!known || top.cost+m[2] < old) {
				costs[next], before[next] = top.cost+m[2], top.cell
				list = append(list, waiting{next, top.cost + m[2], top.cost + m[2] + estimate(next)})
			}
		}
	}
	return nil
}
