package replay

import (
	"fmt"
	"strings"

	"github.com/seed-49bee653/samestep/internal/matchlog"
	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A RecordingInfo describes what an imported recording has besides commands, checksums and notes (docs/spec/recordings.md).
type RecordingInfo struct {
	Match    string           `json:"match"`              // recordings with the same text are of one match
	Player   *lockstep.Player `json:"player,omitempty"`   // whose machine recorded; nil for a server or a converter
	Sections []string         `json:"sections,omitempty"` // the parts of the state that have checksums of their own
	Type     string           `json:"type,omitempty"`     // of the state, as text
	States   int              `json:"states"`             // number of states
	First    lockstep.Tick    `json:"first_state"`        // the tick of the first state, in the order of the file
	Last     lockstep.Tick    `json:"last_state"`
	Odd      int              `json:"odd"` // lines that are no lines of a recording

	header *matchlog.Header
}

// add takes a line, of which the first is the header. It returns a new description for nil.
func (r *RecordingInfo) add(line []byte) *RecordingInfo {
	if r == nil {
		r = &RecordingInfo{}
	}
	if r.header == nil {
		h, err := matchlog.ParseHeader(line)
		if err != nil {
			r.Odd++
			return r
		}
		r.header, r.Match, r.Sections, r.Type = &h, h.Match, h.Sections, h.Type
		if h.By != matchlog.Nobody {
			by := lockstep.Player(h.By)
			r.Player = &by
		}
		return r
	}
	e, _, err := r.header.ParseEntry(line)
	switch {
	case err != nil:
		r.Odd++
	case e.Dump && !e.More:
		if r.Last = lockstep.Tick(e.Tick); r.States == 0 {
			r.First = r.Last
		}
		r.States++
	}
	return r
}

// write describes the recording for people; nothing for nil.
func (r *RecordingInfo) write(line func(name, format string, args ...any)) {
	if r == nil {
		return
	}
	text := "of a server or a converter"
	if r.Player != nil {
		text = fmt.Sprintf("of player %d", *r.Player)
	}
	if r.Match != "" {
		text += fmt.Sprintf(", of the match %q", r.Match)
	}
	line("recording", "%s", text)
	if len(r.Sections) > 0 {
		line("sections", "%s", strings.Join(r.Sections, ", "))
	}
	if r.Type != "" {
		line("type", "%s", r.Type)
	}
	if r.States > 0 {
		line("states", "%s, of ticks %d to %d", words.Count(r.States, "state"), r.First, r.Last)
	}
	if r.Odd > 0 {
		line("", "%s", words.Plural(r.Odd, "line", "is", "are")+" unreadable")
	}
}
