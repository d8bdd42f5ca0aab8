package desync_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// After any change of a replay's records, bisecting it against the original finds a tick or returns an error. Verifying
// it blames a party whenever a checksum differs.
func FuzzBisect(f *testing.F) {
	g, file, _ := recordMatch(f, 120, replay.WriterOptions{})
	f.Add([]byte{3, 0, 1})
	f.Add([]byte{9, 1, 200, 20, 0, 7})
	f.Add([]byte{14, 3, 9, 2, 2, 1})
	f.Add([]byte{1, 0, 48})       // the first keyframe
	f.Add([]byte("\x0190\x0580")) // a keyframe's state alone
	f.Add([]byte("\x0f81\x1c20")) // a command that changes no checksum
	f.Fuzz(func(t *testing.T, changes []byte) {
		other := tamper(t, file, changes)
		found, err := desync.Bisect(openReplay(t, file), openReplay(t, other), g, desync.BisectOptions{MaxSearch: 1 << 20})
		if err == nil && (found.Known && found.Agreed >= found.Tick || found.Exact && found.Known && found.Agreed+1 != found.Tick) {
			t.Fatalf("got %+v", found)
		}
		v, err := judged(t, other, g, replay.VerifyOptions{KeepGoing: true, Workers: 1})
		if errors.As(err, new(*lockstep.DesyncError)) && len(v.Blames) == 0 {
			t.Fatalf("no party is blamed: %+v, error %v", v, err)
		}
	})
}

// tamper changes records. Three bytes select the record, the change and its operand.
func tamper(tb testing.TB, file []byte, changes []byte) []byte {
	tb.Helper()
	type change struct{ how, value byte }
	all := make(map[int]change)
	for ; len(changes) >= 3; changes = changes[3:] {
		all[int(changes[0])] = change{changes[1] % 5, changes[2]}
	}
	n := -1
	return copyRecords(tb, file, func(r *record.Record, emit func(*record.Record) error) error {
		n++
		c, ok := all[n]
		check := r.Kind == record.KindChecksum || r.Kind == record.KindMismatch
		switch {
		case !ok:
		case c.how == 0:
			r.Hash ^= uint64(c.value)
			r.Keyframe.Hash ^= uint64(c.value)
		case c.how == 1:
			for i := range r.Frame.Commands {
				p := bytes.Clone(r.Frame.Commands[i].Payload)
				p[int(c.value)%len(p)] ^= c.value
				r.Frame.Commands[i].Payload = p
			}
		case c.how == 2 && len(r.Keyframe.State) > 0:
			r.Keyframe.State[int(c.value)%len(r.Keyframe.State)] ^= c.value
		case c.how == 3 && check:
			r.Kind, r.Player = record.KindMismatch, lockstep.Player(c.value%2)
		case c.how == 4 && check:
			return nil
		}
		return emit(r)
	})
}
