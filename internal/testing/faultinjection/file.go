package faultinjection

import (
	"bytes"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

func open(file []byte) (*replay.Reader, error) {
	return replay.NewReader(bytes.NewReader(file), int64(len(file)))
}

// openBoth opens two replays.
func openBoth(a, b []byte) (x, y *replay.Reader, err error) {
	if x, err = open(a); err == nil {
		y, err = open(b)
	}
	return x, y, err
}

// rewritten returns a replay with changed records and all checks repaired. It drops the
// records for which change returns false.
func rewritten(file []byte, change func(*record.Record) bool) ([]byte, error) {
	r, err := open(file)
	if err != nil {
		return nil, err
	}
	var (
		out  bytes.Buffer
		enc  record.Encoder
		last [256]lockstep.Sequence
	)
	w := replay.NewWriter(&out, replay.WriterOptions{})
	err = replay.Play(r, nil, func(rec *record.Record) error {
		if !change(rec) {
			return nil
		}
		for i := range rec.Frame.Commands {
			last[rec.Frame.Commands[i].Player] = rec.Frame.Commands[i].Sequence
		}
		if rec.Kind == record.KindKeyframe {
			rec.Keyframe.Last = rec.Keyframe.Last[:0] // of the remaining commands
			for p, seq := range last {
				if seq > 0 {
					rec.Keyframe.Last = append(rec.Keyframe.Last, record.LastSequence{Player: lockstep.Player(p), Sequence: seq})
				}
			}
		}
		return w.Append(enc.Record(rec))
	})
	if err == nil {
		err = w.Close()
	}
	return out.Bytes(), err
}

// ownReplay returns the replay that a recorder with the copy's game would have written:
// the same commands, but the copy's checksums, and its states at every check.
func (m *match) ownReplay(copied *lockstep.Game) ([]byte, error) {
	own, err := rewritten(m.file, func(r *record.Record) bool {
		if r.Kind == record.KindChecksum {
			r.Hash = m.hash(m.copied[r.Tick])
		}
		return r.Kind != record.KindMismatch && (r.Kind != record.KindKeyframe || r.Tick == 0)
	})
	if err != nil {
		return nil, err
	}
	r, err := open(own)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = replay.Rekey(replay.NewWriter(&out, replay.WriterOptions{}), r, copied, checkEvery, replay.SimulateOptions{})
	return out.Bytes(), err
}

// hash returns the checksum of a state.
func (m *match) hash(b []byte) uint64 {
	var sum checksum.Sum
	if err := checksum.OfBytes(&sum, m.game.StateSchema(), b); err != nil {
		panic(err) // it is a state of ours
	}
	return sum.Hash
}
