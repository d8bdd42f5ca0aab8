// Package triage groups the desyncs of many files by their fingerprints: [Triage.Add] adds the cases that package desync makes of
// bundles and recordings.
package triage

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A Triage groups desyncs by their fingerprints. Its size is bounded.
type Triage struct {
	Files      int              `json:"files"`                        // that were added or left out
	Desyncs    int              `json:"desyncs"`                      // that they show
	Panics     int              `json:"panics"`                       // of the rules, that they show
	Agreeing   int              `json:"agreeing"`                     // files of which something was compared, and nothing differs
	Groups     []*CaseGroup     `json:"groups"`                       // after Sort, the largest first
	Uncounted  int              `json:"uncounted_machines,omitempty"` // of desyncs beyond the limit of machines
	Dropped    int              `json:"dropped"`                      // desyncs of groups beyond the limit
	Unreadable []Unreadable     `json:"unreadable"`
	More       int              `json:"more_unreadable"` // beyond the limit
	LeftOut    []desync.LeftOut `json:"left_out"`        // files that no group shows
	MoreLeft   int              `json:"more_left_out"`   // beyond the limit
	Took       time.Duration    `json:"-"`               // 0 if it is not known

	byID map[string]*CaseGroup // only looked up
	met  int                   // machines in the maps of all groups
}

// An Unreadable is a file that could not be explained.
type Unreadable struct {
	Name  string `json:"file"`
	Error string `json:"error"`
}

// A CaseGroup is the desyncs with one fingerprint, or one desync without any.
type CaseGroup struct {
	Fingerprint desync.Fingerprint `json:"fingerprint"`
	Count       int                `json:"count"`
	Parties     []Share            `json:"parties"`   // who was wrong; Differ is the number of desyncs or panics
	Builds      []Share            `json:"builds"`    // of the machines in these matches
	Platforms   []Share            `json:"platforms"` // the same
	Revisions   []Share            `json:"revisions"` // the same, of the machines whose revision is known
	First       time.Time          `json:"first,omitzero"`
	Last        time.Time          `json:"last,omitzero"`  // when the first and the last file was written, if that is known
	Example     string             `json:"example"`        // the file of the case that is the quickest to look at
	Next        string             `json:"next,omitempty"` // the command that looks at it
	Tick        desync.Span        `json:"first_divergent_tick"`
	Who         []desync.Group     `json:"who,omitempty"` // who reported what in the example

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
func (t *Triage) Add(c desync.Case) {
	t.Files += max(c.Files, 1)
	if c.Fingerprint.Class == desync.ClassPanic {
		t.Panics++
	} else {
		t.Desyncs++
	}
	g := t.group(c.Fingerprint)
	if g == nil {
		t.Dropped++
		return
	}
	if g.Count++; g.Count == 1 || simpler(&c, g) {
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

func (t *Triage) group(f desync.Fingerprint) *CaseGroup {
	g := t.byID[f.ID] // none without an ID
	if g != nil || len(t.Groups) == maxGroups {
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
func simpler(c *desync.Case, g *CaseGroup) bool {
	if c.First.Exact() != g.Tick.Exact() {
		return c.First.Exact()
	}
	return c.First.To < g.Tick.To
}

// meet returns what a machine adds to the counts of a group: 0 for all if it was counted before, and 0 for differ if as one that differs.
func (t *Triage) meet(g *CaseGroup, m *desync.Machine) (all, differ int) {
	if m.Match != "" {
		sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q", m.Match, m.Who, m.Build, m.Platform))
		key := [16]byte(sum[:])
		differed, known := g.met[key]
		if !known && t.met == maxMachines {
			t.Uncounted++
			return 0, 0
		}
		if g.met == nil {
			g.met = make(map[[16]byte]bool)
		}
		if g.met[key] = differed || m.Differs; known {
			return 0, one(m.Differs && !differed)
		}
		t.met++
	}
	return 1, one(m.Differs)
}

// counted adds to the counts of a name, "?" for none.
func counted(list []Share, name string, all, differ int) []Share {
	name = cmp.Or(words.Clipped(name, desync.MaxName), "?")
	i := slices.IndexFunc(list, func(s Share) bool { return s.Name == name })
	if i < 0 && len(list) == maxNames {
		i = maxNames - 1
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
	t.Unreadable = append(t.Unreadable, Unreadable{name, words.Clipped(err.Error(), maxUnreadable)})
}

// Leave notes a file that no group shows, and why.
func (t *Triage) Leave(l desync.LeftOut) {
	if len(t.LeftOut) == maxUnreadable {
		t.MoreLeft++
		return
	}
	t.LeftOut = append(t.LeftOut, desync.LeftOut{Name: l.Name, Why: words.Clipped(l.Why, maxUnreadable)})
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

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}
