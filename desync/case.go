package desync

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// A Case is one desync, for a triage.
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

// Case returns the difference as a case of a file for a triage. It returns false if nothing differs.
func (m *Imported) Case(name string, written time.Time) (Case, bool) {
	if len(m.Groups) == 0 {
		return Case{}, false
	}
	c := Case{Name: name, Written: written, Party: WrongUnknown, Groups: m.Groups, First: Span{0, m.First}}
	if m.known {
		c.First.From = m.agreed + 1
	}
	class := ClassUnknown
	if m.First == 0 {
		class = ClassBeginning
	}
	c.Fingerprint = NewFingerprint(m.header.Game, class, append(slices.Clone(m.Sections), "")[0], "")
	for _, g := range m.Groups {
		for range g.Players {
			c.Machines = append(c.Machines, Machine{Build: m.header.Build, Platform: m.header.Platform})
		}
	}
	return c, true
}

// A LeftOut is a file that was not compared, or that counts with another one.
type LeftOut struct {
	Name string `json:"file"`
	Why  string `json:"why"`
	Lone bool   `json:"-"` // nothing of it was compared
}
