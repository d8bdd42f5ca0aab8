package desync

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A Case is one desync, for a [Triage].
type Case struct {
	Name        string    // of its file
	Next        string    // the command that looks at it; "" for none
	Files       int       // that it was found in; 0 means 1
	Written     time.Time // when the file was written; zero if that is not known
	Fingerprint Fingerprint
	Party       Party
	First       Span // the first divergent tick
	Machines    []Machine
	Groups      []Group // who reported what at the first check that differs, if that is known
}

// A Machine is one that computed the match.
type Machine struct {
	Match, Who      string // a machine with both, and with this build and platform, counts once in a group; without a Match, in each case
	Build, Platform string
	Differs         bool   // the verdict names it; of a panic, its rules panicked
	Sources         string // as in a header; "" if they are not known
}

// Case returns the explanation as a case of a file.
func (e *Explanation) Case(name string, written time.Time) Case {
	c := Case{Name: name, Written: written, Fingerprint: e.Fingerprint, Party: e.Verdict.Party, First: e.First, Groups: e.Groups}
	if e.Panic != nil && !e.Panic.Again {
		c.Party = WrongUnknown
	}
	if e.Fingerprint.Class == ClassUnstable && !e.Verdict.Simulated {
		c.Party = WrongUnknown // its own results differ, too: votes do not show that it is the only one
	}
	for i := range e.Who {
		w := &e.Who[i]
		wrong := w.Differs && e.Panic != nil || c.Party == WrongPlayer && slices.Contains(e.Verdict.Players, w.Player)
		c.Machines = append(c.Machines, Machine{e.Match, fmt.Sprint(w.Player), cmp.Or(w.Build, e.Build), w.Platform, wrong, w.Sources})
	}
	if slices.ContainsFunc(e.Groups, func(g Group) bool { return g.Referee }) {
		m := Machine{Match: e.Match, Build: e.Build, Platform: e.Recorder, Differs: e.Verdict.Party == WrongReferee}
		if len(e.Programs) > 0 { // the recorder is the first
			m.Sources = e.Programs[0].Sources.String()
		}
		c.Machines = append(c.Machines, m)
	}
	return c
}

// A Triage groups desyncs by their fingerprints. Its size is bounded.
type Triage struct {
	Files      int           `json:"files"`                        // that were added or left out
	Desyncs    int           `json:"desyncs"`                      // that they show
	Panics     int           `json:"panics"`                       // of the rules, that they show
	Agreeing   int           `json:"agreeing"`                     // files of which something was compared, and nothing differs
	Groups     []*CaseGroup  `json:"groups"`                       // after Sort, the largest first
	Uncounted  int           `json:"uncounted_machines,omitempty"` // of desyncs beyond the limit of machines
	Dropped    int           `json:"dropped"`                      // desyncs of groups beyond the limit
	Unreadable []Unreadable  `json:"unreadable"`
	More       int           `json:"more_unreadable"` // beyond the limit
	LeftOut    []LeftOut     `json:"left_out"`        // files that no group shows
	MoreLeft   int           `json:"more_left_out"`   // beyond the limit
	Took       time.Duration `json:"-"`               // 0 if it is not known

	byID map[string]*CaseGroup // only looked up
	met  int                   // machines in the maps of all groups
}

// An Unreadable is a file that could not be explained.
type Unreadable struct {
	Name  string `json:"file"`
	Error string `json:"error"`
}

// A LeftOut is a file that was not compared, or that counts with another one.
type LeftOut struct {
	Name string `json:"file"`
	Why  string `json:"why"`
	Lone bool   `json:"-"` // nothing of it was compared
}

// A CaseGroup is the desyncs with one fingerprint, or one desync without any.
type CaseGroup struct {
	Fingerprint Fingerprint `json:"fingerprint"`
	Count       int         `json:"count"`
	Parties     []Share     `json:"parties"`   // who was wrong; Differ is the number of desyncs or panics
	Builds      []Share     `json:"builds"`    // of the machines in these matches
	Platforms   []Share     `json:"platforms"` // the same
	Revisions   []Share     `json:"revisions"` // the same, of the machines whose revision is known
	First       time.Time   `json:"first,omitzero"`
	Last        time.Time   `json:"last,omitzero"`  // when the first and the last file was written, if that is known
	Example     string      `json:"example"`        // the file of the case that is the quickest to look at
	Next        string      `json:"next,omitempty"` // the command that looks at it
	Tick        Span        `json:"first_divergent_tick"`
	Who         []Group     `json:"who,omitempty"` // who reported what in the example

	met map[[16]byte]bool // hashes of the machines, and whether they differed; only looked up
}

// A Share counts the machines with one build or platform: those that a verdict names, or whose rules panicked, and all. One of several
// desyncs of a match counts once.
type Share struct {
	Name   string `json:"name"`
	Differ int    `json:"differ"`
	All    int    `json:"all"`
}

// Add adds a case.
func (t *Triage) Add(c Case) {
	t.Files += max(c.Files, 1)
	if c.Fingerprint.Class == ClassPanic {
		t.Panics++
	} else {
		t.Desyncs++
	}
	g := t.group(c.Fingerprint)
	if g == nil {
		t.Dropped++
		return
	}
	if g.Count++; g.Count == 1 || c.simpler(g) {
		g.Example, g.Next, g.Tick, g.Who = c.Name, c.Next, c.First, c.Groups
	}
	g.Parties = counted(g.Parties, string(c.Party), 1, 1)
	for _, m := range c.Machines {
		all, differ := t.meet(g, &m)
		g.Builds, g.Platforms = counted(g.Builds, m.Build, all, differ), counted(g.Platforms, m.Platform, all, differ)
		if s := record.ParseSources(m.Sources); s.Checkout() != "" {
			name := s.ShortCheckout()
			if s.Modified {
				name += " with changed files"
			}
			g.Revisions = counted(g.Revisions, name, all, differ)
		}
	}
	if c.Written.IsZero() {
		return
	}
	if g.First.IsZero() || c.Written.Before(g.First) {
		g.First = c.Written
	}
	if c.Written.After(g.Last) {
		g.Last = c.Written
	}
}

// group returns the group of a fingerprint, or nil if there are too many.
func (t *Triage) group(f Fingerprint) *CaseGroup {
	g := t.byID[f.ID] // none without an ID
	if g != nil || len(t.Groups) == maxTriageGroups {
		return g
	}
	g = &CaseGroup{Fingerprint: f, Parties: []Share{}, Builds: []Share{}, Platforms: []Share{}, Revisions: []Share{}}
	if t.byID == nil {
		t.byID = make(map[string]*CaseGroup)
	}
	if f.ID != "" {
		t.byID[f.ID] = g
	}
	t.Groups = append(t.Groups, g)
	return g
}

// simpler reports whether a case is a better example than that of its group: the tick is exact, and early.
func (c *Case) simpler(g *CaseGroup) bool {
	if c.First.Exact() != g.Tick.Exact() {
		return c.First.Exact()
	}
	return c.First.To < g.Tick.To
}

// meet returns what a machine adds to the counts of a group: 0 for all if it was counted before, and 0 for differ if as one that differs.
func (t *Triage) meet(g *CaseGroup, m *Machine) (all, differ int) {
	if m.Match != "" {
		sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q", m.Match, m.Who, m.Build, m.Platform))
		key := [16]byte(sum[:])
		differed, known := g.met[key]
		if !known && t.met == maxTriageMachines {
			t.Uncounted++
			return 0, 0
		}
		if g.met == nil {
			g.met = make(map[[16]byte]bool)
		}
		if g.met[key] = differed || m.Differs; known {
			return 0, btoi(m.Differs && !differed)
		}
		t.met++
	}
	return 1, btoi(m.Differs)
}

// counted adds to the counts of a name, "?" for none.
func counted(list []Share, name string, all, differ int) []Share {
	name = cmp.Or(clipped(name, maxTriageName), "?")
	i := slices.IndexFunc(list, func(s Share) bool { return s.Name == name })
	if i < 0 && len(list) == maxTriageNames {
		i = maxTriageNames - 1
		list[i].Name = "others"
	} else if i < 0 {
		list = append(list, Share{Name: name})
		i = len(list) - 1
	}
	list[i].All += all
	list[i].Differ += differ
	return list
}

// Agree adds files of which something was compared, and nothing differs.
func (t *Triage) Agree(files int) {
	t.Files += files
	t.Agreeing += files
}

// Fail adds a file that could not be explained.
func (t *Triage) Fail(name string, err error) {
	t.Files++
	if len(t.Unreadable) == maxUnreadable {
		t.More++
		return
	}
	t.Unreadable = append(t.Unreadable, Unreadable{name, clipped(err.Error(), maxUnreadable)})
}

// Leave notes a file that no group shows, and why.
func (t *Triage) Leave(l LeftOut) {
	if len(t.LeftOut) == maxUnreadable {
		t.MoreLeft++
		return
	}
	t.LeftOut = append(t.LeftOut, LeftOut{Name: l.Name, Why: clipped(l.Why, maxUnreadable)})
}

// Sort brings the groups into their order: those with most desyncs first.
func (t *Triage) Sort() {
	slices.SortStableFunc(t.Groups, func(a, b *CaseGroup) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Fingerprint.ID, b.Fingerprint.ID))
	})
	for _, g := range t.Groups {
		for _, list := range [][]Share{g.Parties, g.Builds, g.Platforms, g.Revisions} {
			slices.SortStableFunc(list, func(a, b Share) int {
				return cmp.Or(cmp.Compare(b.Differ, a.Differ), cmp.Compare(b.All, a.All), cmp.Compare(a.Name, b.Name))
			})
		}
	}
}
