package replay

import "testing"

// In whatever order the workers finish, each stretch is taken once, up to the first that fails. No later stretch is
// begun.
func TestPlan(t *testing.T) {
	for n := 1; n < 40; n++ {
		for workers := 1; workers < 9; workers++ {
			p := newPlan(n, workers)
			seen := make([]int, n)
			failed := n * 2 / 3
			steals := 0
			running := make([]bool, len(p.left))
			for step, idle := 0, 0; idle < 100; step++ {
				w := step * 7 % 11 % len(p.left) // at different speeds
				i, ok := p.take(w)
				if !ok && running[w] {
					if i, ok = p.steal(w); ok {
						steals++
					}
				}
				running[w] = true
				if !ok {
					idle++
					continue
				}
				if idle = 0; i >= p.end {
					t.Fatalf("%d stretches, %d workers: %d begun after %d failed", n, workers, i, p.end)
				}
				if seen[i]++; i == failed && n%2 == 0 {
					p.fail(i)
				}
			}
			for i := range p.end {
				if seen[i] != 1 {
					t.Fatalf("%d stretches, %d workers: stretch %d was taken %d times", n, workers, i, seen[i])
				}
			}
			if want := failed; n%2 == 0 && (p.end != want || p.needs(want+1) || !p.needs(want)) {
				t.Fatalf("%d stretches, %d workers: end at %d, want %d", n, workers, p.end, want)
			}
			if workers == 8 && n == 39 && steals == 0 {
				t.Error("no worker took a stretch from another")
			}
		}
	}
}
