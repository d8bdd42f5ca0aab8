package ownership

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/tries"
)

// A post is a server in the model of the directory.
type post struct {
	name    string // of this start of it; each has another one
	up      bool
	bad     bool // it cannot continue the match
	away    bool // its lease has expired for the others
	plans   bool // to take the match, as it was at revision read
	read    int  // the revision that it has read or written last
	holds   bool // the match, between Take and Play or Release
	runs    bool
	suspect bool // it was lost or seen as lost at least once
}

// A town is a state of the model: the entry of one match, and three servers. The storage refuses a change that names an old
// revision. Leases may expire at any time, rightly or not.
type town struct {
	entry    Entry
	revision int
	posts    [3]post
	crashes  int // that may still happen
	lost     int // answers that may still get lost
	killed   int // servers that died while they took the match
}

// townRules can have mistakes, which the exploration must find.
type townRules struct {
	bad      int  // servers that cannot continue the match
	deadly   bool // the match kills who takes it
	forget   bool // mistake: nobody remembers who has tried
	noOrder  bool // mistake: a change is stored whatever revision it names
	noReturn bool // mistake: a server does not go on with what it has taken if the answer got lost
	noCount  bool // mistake: a server that was lost while it tried the match has not tried
	early    bool // mistake: a try ends when the match runs
}

func (r townRules) first() town {
	t := town{entry: Entry{Server: "gone", State: Playing, Term: 1}, crashes: 1, lost: 1}
	for i := range t.posts {
		t.posts[i] = post{name: fmt.Sprint("s", i), up: true, bad: i < r.bad}
	}
	if r.deadly {
		t.crashes = 0
	}
	return t
}

// able returns the live servers that are not seen as lost.
func (t *town) able() (names []string) {
	for i := range t.posts {
		if p := &t.posts[i]; p.up && !p.away {
			names = append(names, p.name)
		}
	}
	return names
}

// gone reports whether the server of the entry counts as lost.
func (t *town) gone() bool {
	for i := range t.posts {
		if t.posts[i].name == t.entry.Server {
			return t.posts[i].away
		}
	}
	return true
}

// may reports whether a server may take the match.
func (r townRules) may(t *town, p *post) bool {
	if !p.up || p.holds || p.runs || t.entry.State == Failed {
		return false
	}
	if t.entry.Server == p.name && t.entry.State != Released {
		return t.entry.State == Recovering && !r.noReturn
	}
	if t.entry.State != Released && !t.gone() {
		return false
	}
	e := t.entry
	if r.forget {
		e.Tried = nil
	}
	names, _ := e.Candidates(t.able())
	return slices.Contains(names, p.name)
}

// write stores the next entry, if p has read the last one.
func (r townRules) write(t *town, p *post, read int, next Entry) bool {
	if read != t.revision && !r.noOrder {
		return false
	}
	next.Tried = slices.Clone(next.Tried)
	t.entry, t.revision = next, t.revision+1
	p.read = t.revision
	return true
}

// taken returns the entry when p takes the match.
func (r townRules) taken(t *town, p *post) Entry {
	e := t.entry
	if e.Server != p.name && e.State != Released {
		e = e.Lost()
	}
	return e.Take(p.name, e.Tries.Suspect)
}

// next calls visit with each state that one event leads to.
func (r townRules) next(t town, visit func(event string, t town)) {
	step := func(event string, change func(t *town, p *post), i int) {
		n := t
		n.entry.Tried = slices.Clone(t.entry.Tried)
		change(&n, &n.posts[i])
		visit(event, n)
	}
	for i := range t.posts {
		p := &t.posts[i]
		if p.up && t.crashes > 0 {
			step(p.name+" crashes", func(t *town, p *post) {
				t.crashes--
				p.up, p.plans, p.holds, p.runs, p.suspect = false, false, false, false, true
			}, i)
		}
		if !p.away && (!p.up || t.crashes > 0) {
			step(p.name+" is seen as lost", func(t *town, p *post) {
				if p.up {
					t.crashes--
				}
				p.away, p.suspect = true, true
			}, i)
		}
		if p.up && p.away {
			step(p.name+" is seen again", func(_ *town, p *post) { p.away = false }, i)
		}
		if r.may(&t, p) && !p.plans {
			step(p.name+" decides to take", func(t *town, p *post) { p.plans, p.read = true, t.revision }, i)
		}
		if p.up && p.plans { // the entry may have changed since
			step(p.name+" takes", func(t *town, p *post) {
				p.plans = false
				p.holds = r.write(t, p, p.read, r.taken(t, p)) && t.entry.State != Failed
			}, i)
			if t.lost > 0 {
				step(p.name+" takes, and the answer gets lost", func(t *town, p *post) {
					t.lost--
					p.plans = false
					r.write(t, p, p.read, r.taken(t, p))
				}, i)
			}
		}
		if p.holds && !r.deadly {
			step(p.name+" tries", func(t *town, p *post) {
				p.holds = false
				if p.bad {
					r.write(t, p, p.read, t.entry.Release("bad"))
					return
				}
				p.runs = r.write(t, p, p.read, t.entry.Play())
			}, i)
		}
		if p.holds && r.deadly {
			step(p.name+" plays the log, and goes on", func(t *town, p *post) {
				p.holds = false
				if p.runs = r.write(t, p, p.read, t.entry.Play()); r.early {
					r.write(t, p, p.read, t.entry.Tested(true))
				}
			}, i)
		}
		if r.deadly && (p.holds || p.runs) && p.up {
			step(p.name+" is ended by the match", func(t *town, p *post) {
				t.killed++
				p.up, p.away, p.suspect, p.holds, p.runs = false, true, true, false, false
				if r.noCount {
					t.entry.Tries = tries.Record{}
					t.entry.State = Released
				}
			}, i)
		}
		if p.runs && !r.deadly && t.entry.Tries.Trying && t.entry.Server == p.name {
			step(p.name+" has run it for a while", func(t *town, p *post) { r.write(t, p, p.read, t.entry.Tested(true)) }, i)
		}
		if r.deadly && !p.up && t.killed < 4 {
			step(p.name+" is started again", func(t *town, p *post) {
				p.name, p.up, p.away = p.name+"'", true, false
			}, i)
		}
	}
}

// check returns what is wrong with a state.
func (r townRules) check(t *town) error {
	running := 0
	for i := range t.posts {
		p := &t.posts[i]
		if (p.runs || p.holds) && p.up && t.entry.Server == p.name && p.read == t.revision {
			running++
		}
		if p.holds && t.entry.Server != p.name && !p.suspect {
			return fmt.Errorf("order: %s has taken the match, and %s has it", p.name, t.entry.Server)
		}
		if t.entry.State == Failed && !p.bad && !p.suspect && !r.deadly {
			return fmt.Errorf("tries: the match has failed, and %s could continue it", p.name)
		}
	}
	if running > 1 {
		return fmt.Errorf("order: %d servers have the match", running)
	}
	if t.killed > 1+tries.MaxDeaths {
		return fmt.Errorf("deadly: the match has killed %d servers", t.killed)
	}
	return nil
}

// explore visits all states, and returns their number, and what is wrong in the nearest wrong one. From each state with a good
// server the match must be able to run again, unless an admin is needed.
func (r townRules) explore() (states int, wrong error) {
	key := func(t town) string { return fmt.Sprintf("%+v", t) }
	first := r.first()
	seen := map[string]int{key(first): 0}
	all := []town{first}
	var to [][]int
	for i := 0; i < len(all); i++ {
		to = append(to, nil)
		r.next(all[i], func(event string, n town) {
			k := key(n)
			j, known := seen[k]
			if !known {
				j = len(all)
				seen[k] = j
				all = append(all, n)
				if err := r.check(&n); err != nil && wrong == nil {
					wrong = fmt.Errorf("%w (after: %s)", err, event)
				}
			}
			to[i] = append(to[i], j)
		})
		if wrong != nil {
			return len(all), wrong
		}
	}
	return len(all), r.progress(all, to)
}

// progress returns the first state from which the match can never run again.
func (r townRules) progress(all []town, to [][]int) error {
	from := make([][]int, len(all))
	var good []int
	able := make([]bool, len(all))
	for i, next := range to {
		for _, j := range next {
			from[j] = append(from[j], i)
		}
		t := &all[i]
		runs := slices.ContainsFunc(t.posts[:], func(p post) bool { return p.runs && p.up && t.entry.Server == p.name })
		if able[i] = runs || t.entry.State == Failed; able[i] {
			good = append(good, i)
		}
	}
	for len(good) > 0 {
		i := good[0]
		good = good[1:]
		for _, j := range from[i] {
			if !able[j] {
				able[j] = true
				good = append(good, j)
			}
		}
	}
	for i := range all {
		if !able[i] && slices.ContainsFunc(all[i].posts[:], func(p post) bool { return p.up && !p.bad && !p.suspect }) {
			return fmt.Errorf("progress: %+v", all[i])
		}
	}
	return nil
}

// All orders of takeovers, failures, crashes, expired leases and lost answers of three servers keep the directory's promises:
// one server at a time, each good server gets its turn, the match runs again, and one that kills its servers kills three.
func TestExploreEntries(t *testing.T) {
	for name, r := range map[string]townRules{"good": {}, "one bad": {bad: 1}, "two bad": {bad: 2}, "deadly": {deadly: true}} {
		states, wrong := r.explore()
		if wrong != nil || states < 100 {
			t.Errorf("%s: %d states, %v", name, states, wrong)
		}
		t.Logf("%s: %d states", name, states)
	}
	for name, c := range map[string]struct {
		townRules
		want string
	}{
		"nobody remembers who has tried":      {townRules{bad: 1, forget: true}, "tries: "},
		"changes are in no order":             {townRules{noOrder: true}, "order: "},
		"a lost answer is lost for ever":      {townRules{noReturn: true}, "progress: "},
		"who was lost in a try has not tried": {townRules{deadly: true, noCount: true}, "deadly: "},
		"a try ends when the match runs":      {townRules{deadly: true, early: true}, "deadly: "},
	} {
		if _, wrong := c.explore(); wrong == nil || !strings.HasPrefix(wrong.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", name, wrong, c.want)
		}
	}
}
