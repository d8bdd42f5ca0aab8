package watch

import (
	"errors"

	"github.com/seed-49bee653/samestep/state"
)

// Recorded describes a recording of another engine.
type Recorded struct {
	States int    `json:"states"`
	Type   string `json:"type"` // of the states, as text, or ""
}

// ErrSimulated is returned for a replay that is no recording of another engine. See [Open].
var ErrSimulated = errors.New("watch: the replay is no recording of another engine")

// OpenRecording reads a whole imported recording of another engine (docs/import.md), and keeps its bytes. Nothing is simulated: the
// Viewer goes to any tick at once, and has the states that were recorded. The error is [ErrSimulated] for the replay of a game.
func OpenRecording(file []byte) (*Viewer, error) {
	rec, r, err := read(file)
	if err != nil {
		return nil, err
	}
	if rec.header != nil && rec.recorded == nil {
		return nil, ErrSimulated
	}
	if err := rec.complete(); err != nil {
		return nil, err
	}
	v := &Viewer{recording: rec, reader: r}
	v.Seek(v.First())
	v.Work(0)
	return v, nil
}

// Recorded returns the recorded state of the present tick, the one of the tick before, if there is one, and the schema of both. The
// error is a [*replay.NoStateError] if none was recorded. It must not be called for a replay of a game.
func (v *Viewer) Recorded() (before, now []byte, schema *state.Schema, err error) {
	s, err := v.recorded.At(v.at)
	if err != nil {
		return nil, nil, nil, err
	}
	if b, berr := v.recorded.At(v.at - 1); berr == nil && v.at > 0 && b.Player == s.Player {
		before = b.State
	}
	return before, s.State, v.recorded.Schema, nil
}
