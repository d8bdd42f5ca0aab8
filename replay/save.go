package replay

import (
	"errors"
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// Save copies the match of r, which goes on, up to its last tick to w, with an end that says so, and closes w. The file
// of r must end with a whole block, as after [Writer.Flush]. Save copies a match that is over whole.
func Save(w *Writer, r *Reader) (lockstep.Tick, error) {
	var damage *DamageError
	err := Play(r, nil, func(*record.Record) error { return w.Append(r.Record()) })
	switch {
	case err == nil:
		return r.tick, w.Close()
	case errors.As(err, &damage) && r.began && r.start == r.size:
		return r.tick, end(w, fmt.Sprintf("saved after tick %d", r.tick))
	}
	return r.tick, err
}
