package desync

import (
	"github.com/seed-49bee653/samestep/lockstep"
)

// show takes the listing into the explanation, up to the limit of the options.
func (w *work) show() {
	w.e.Fields, w.e.Places = w.listed.fields, w.listed.places
	w.e.Fields.List = w.e.Fields.List[:min(len(w.e.Fields.List), w.options.Fields)]
}

// order orders the fields by cause, if the match was simulated again.
func (w *work) order() {
	if w.tester == nil || w.wrong == nil || w.e.Verdict.undecided() {
		return
	}
	w.listed.byCause(w.tester, w.known(), w.bad)
	w.show()
}

// known returns the first tick after which the states are equal and kept.
func (w *work) known() lockstep.Tick { return max(w.good, w.again.first) }

// limit limits the fields to those of the Path. The search for the cause needs all.
func (w *work) limit() (err error) {
	if w.options.Path != "" && w.listed != nil {
		w.e.path = w.options.Path
		w.e.Fields, w.e.Places, err = w.listed.at(w.options.Path, w.options.Fields)
	}
	return err
}

// entitle keeps what differs first, whatever part of it the report lists, and what may have differed before it.
func (w *work) entitle() {
	if w.listed == nil || w.e.Verdict.Party == NoFixedResult {
		return
	}
	all, places, _ := w.listed.Named(w.listed.fields, w.listed.places, nil)
	if len(places.List) > 0 {
		w.e.top, w.e.differing = &places.List[0], all.Total
	}
	if w.e.Cause == nil && w.e.First != (Span{w.bad, w.bad}) {
		w.e.Rivals = w.listed.rivals
	}
}
