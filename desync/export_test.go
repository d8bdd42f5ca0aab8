package desync

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

// Advise returns the advice on an explanation's programs.
func (e *Explanation) Advise() (text, revision string) { return e.advise() }

// JudgeBuilds returns the party and the text of the verdict on different programs; nothing for none.
func JudgeBuilds(h *lockstep.Header, m *replay.Manifest, this *Program, checksum string) (Party, string) {
	if v := twoBuilds(h, m, this, checksum); v != nil {
		return v.Party, v.Text
	}
	return "", ""
}

// JudgeOther returns the text of the verdict that the recorder of a match is another program; nothing for none.
func JudgeOther(h *lockstep.Header, this *Program) string {
	if v := otherBuild(h, this); v != nil {
		return v.Text
	}
	return ""
}

// Answer returns the title of a report of which fields differ, the first of them at a place.
func Answer(e *Explanation, first *state.Place, fields int) string {
	own := *e
	own.top, own.differing = first, fields
	return own.answer()
}
