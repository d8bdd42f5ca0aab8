package desync

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A Program is one that computed the match: its build, and the sources that it says it was built from.
type Program struct {
	Who    string          `json:"who"`    // "recorder", "player" or "this": the program that explains the bundle
	Player lockstep.Player `json:"player"` // of "player"
	Build  string          `json:"build"`
	record.Sources
}

// The programs in Who.
const (
	programRecorder = "recorder"
	programPlayer   = "player"
	programThis     = "this"
)

// programs returns the program that recorded the match, those of the players that differ at the check, and this one.
func (w *work) programs() []Program {
	h := w.log.header
	all := []Program{{Who: programRecorder, Build: h.Build, Sources: record.ParseSources(h.Sources)}}
	for i := range w.e.Who {
		p := &w.e.Who[i]
		if w.e.mismatches(p.Player) && (w.e.Tie || p.Player == w.e.Player || p.Differs || w.e.Verdict.undecided()) {
			all = append(all, Program{programPlayer, p.Player, p.Build, record.ParseSources(p.Sources)})
		}
	}
	if w.again != nil {
		all = append(all, *w.thisProgram())
	}
	return all
}

// thisProgram returns the program that has simulated the match again.
func (w *work) thisProgram() *Program {
	return &Program{Who: programThis, Build: w.again.game.Build(), Sources: w.again.game.Sources()}
}

// name says whose program it is.
func (p *Program) name() string {
	switch p.Who {
	case programRecorder:
		return "the recorder"
	case programPlayer:
		return fmt.Sprintf("player %d", p.Player)
	}
	return "this program"
}

// String returns the program as one line of text.
func (p Program) String() string {
	s := p.name() + ": "
	if p.Build != "" {
		s += "build " + p.Build + ", "
	}
	return s + p.sources()
}

// sources says what is known of the sources.
func (p *Program) sources() string {
	if p.Module == "" {
		return "sources not known"
	}
	at := p.Checkout()
	switch {
	case at == "":
		return p.Module + ", revision not known"
	case p.Modified:
		return p.Module + " at " + p.ShortCheckout() + " with changed files"
	}
	return p.Module + " at " + p.ShortCheckout()
}

// same reports whether two programs are known to have the same sources.
func (p *Program) same(other *Program) bool {
	return p.Sources == other.Sources && p.Checkout() != "" && !p.Modified
}

// advise says what to do if this build is not the one to explain the bundle with, and names the revision of that one, if git can
// check it out.
func (e *Explanation) advise() (text, revision string) {
	if e.Verdict.Simulated && !e.Verdict.undecided() || e.Verdict.Party == NoFixedResult || e.Verdict.Party == TwoBuilds {
		return "", "" // another program says the same
	}
	recorder, this := &e.Programs[0], &Program{}
	if last := &e.Programs[len(e.Programs)-1]; last.Who == programThis {
		this = last
	}
	switch revision = recorder.ShortCheckout(); {
	case recorder.same(this):
		return fmt.Sprintf("this program is of the recorder's revision, %s: explain the bundle again on the recorder's platform (%s)", revision, e.Recorder), ""
	case revision != "" && !recorder.Modified:
		text = fmt.Sprintf("explain the bundle again with a program of revision %s, which recorded the match", revision)
	case !e.Verdict.Simulated && e.lacksGame:
		return fmt.Sprintf("explain the bundle again with the program of the game %s, build %s, or with a module of its rules (--rules FILE)", e.Game, e.Build), ""
	case !e.Verdict.Simulated:
		return "", "" // a note says what is missing
	case revision != "":
		text = fmt.Sprintf("explain the bundle again with the program that recorded the match: it is of revision %s with changed files, which no repository has", revision)
		revision = ""
	default:
		text = fmt.Sprintf("explain the bundle again with the program that recorded the match (build %s, on %s): the replay does not have its revision", e.Build, e.Recorder)
	}
	for i := range e.Programs {
		if p := &e.Programs[i]; p.Who == programPlayer && this.Checkout() != "" && p.Sources == this.Sources {
			text += fmt.Sprintf("; this program is of the revision of player %d, %s", p.Player, this.ShortCheckout())
			break
		}
	}
	return text, revision
}

// programLines lists the programs if their revisions are known to differ, or if nobody knows which is right.
func (e *Explanation) programLines() []string {
	for i := range e.Programs {
		p, recorder := &e.Programs[i], &e.Programs[0]
		if e.Verdict.undecided() || p.Checkout() != "" && p.Sources != recorder.Sources {
			return lines(e.Programs)
		}
	}
	return nil
}

func lines[E fmt.Stringer](list []E) []string {
	var all []string
	for _, x := range list {
		all = append(all, x.String())
	}
	return all
}
