package faultinjection

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
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
// the same commands, but the copy's checksums.
func (m *match) ownReplay() ([]byte, error) {
	return rewritten(m.file, func(r *record.Record) bool {
		if r.Kind == record.KindChecksum {
			r.Hash = m.hash(m.copied[r.Tick])
		}
		return r.Kind != record.KindMismatch
	})
}

// hash returns the checksum of a state.
func (m *match) hash(b []byte) uint64 {
	var sum checksum.Sum
	if err := checksum.OfBytes(&sum, m.game.StateSchema(), b); err != nil {
		panic(err) // it is a state of ours
	}
	return sum.Hash
}

// otherNumber changes a random number in a command's payload. It returns false if there is none, or if the change gives the
// same number.
func (m *match) otherNumber(dice *rand.Rand, c *lockstep.Command, change func(v uint64, dice *rand.Rand, bits int) uint64) bool {
	kinds := m.game.Commands()
	k := slices.IndexFunc(kinds, func(d record.CommandDescription) bool { return d.Kind == c.Kind })
	schema, err := state.ParseSchema(kinds[k].Schema)
	if err != nil {
		panic(err) // it is our own
	}
	b := bytes.Clone(c.Payload)
	var numbers []field
	for _, f := range list(schema, b).order {
		if f.node.Kind().Integer() {
			numbers = append(numbers, f)
		}
	}
	if len(numbers) == 0 {
		return false
	}
	v, err := schema.Lookup(b, numbers[dice.IntN(len(numbers))].path)
	if err != nil {
		return false
	}
	var whole [8]byte
	copy(whole[:], v.Bytes)
	now := binary.LittleEndian.Uint64(whole[:])
	binary.LittleEndian.PutUint64(whole[:], change(now, dice, 8*len(v.Bytes)))
	if string(whole[:len(v.Bytes)]) == string(v.Bytes) {
		return false
	}
	copy(v.Bytes, whole[:])
	c.Payload = b
	return true
}
