package replay

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/seed-49bee653/samestep/lockstep"
)

// seal makes a file with valid checks of any bodies, so that the fuzzer and the
// tests get past the checks.
func seal(kind byte, bodies ...[]byte) []byte {
	file := appendPrefix(nil, lockstep.MatchID{})
	chain := xxhash.Sum64(file)
	for _, body := range bodies {
		block := append(appendBlockHeader(nil, kind, len(body)), body...)
		chain = checkBlock(chain, block)
		file = binary.LittleEndian.AppendUint64(append(file, block...), chain)
	}
	return file
}

func readAll(t *testing.T, file []byte) (records int, err error) {
	t.Helper()
	r, err := NewReader(bytes.NewReader(file), int64(len(file)))
	for err == nil {
		if _, err = r.Next(); err == nil {
			records++
		}
	}
	var damage *DamageError
	if err != io.EOF && !errors.As(err, &damage) {
		t.Fatalf("got error %T: %v", err, err)
	}
	return records, err
}

// Whatever stands in a file, and in its batches, a Reader ends with io.EOF or a
// DamageError.
func FuzzReader(f *testing.F) {
	var enc lockstep.Encoder
	h := &lockstep.Header{Protocol: 1, Settings: lockstep.DefaultSettings(2)}
	body := bytes.Clone(enc.Header(h))
	body = append(body, enc.Keyframe(0, 1, nil, []byte{1})...)
	body = append(body, enc.Frame(&lockstep.Frame{Tick: 1, Commands: []lockstep.Command{{Tick: 1, Player: 1, Sequence: 1, Kind: 1, Payload: []byte{0x90}}}})...)
	body = append(body, enc.Empty(3)...)
	body = append(body, enc.Checksum(4, 5)...)
	body = append(body, enc.Dissent(4, 1, 6)...)
	body = append(body, enc.Note(1, "name", "x")...)
	body = append(body, enc.End("over")...)
	f.Add(body, true)
	f.Add(seal(blockBatch, body), false)
	f.Fuzz(func(t *testing.T, b []byte, sealed bool) {
		if sealed {
			b = seal(blockBatch, b)
		}
		readAll(t, b)
	})
}

func TestHostileBlocks(t *testing.T) {
	prefix := appendPrefix(nil, lockstep.MatchID{})
	for _, c := range []struct {
		name string
		file []byte
		want error
	}{
		{"length of 2^32-1", append(bytes.Clone(prefix), 1, 0xff, 0xff, 0xff, 0xff, 0x0f), io.ErrUnexpectedEOF},
		{"length of 2^35-1", append(bytes.Clone(prefix), 1, 0xff, 0xff, 0xff, 0xff, 0x7f), io.ErrUnexpectedEOF},
		{"length without end", append(bytes.Clone(prefix), 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), ErrCorrupt},
		{"length not in its smallest form", append(bytes.Clone(prefix), 1, 0x81, 0x00, 0, 0, 0, 0, 0, 0, 0, 0, 0), ErrCorrupt},
		{"unknown critical block", seal(2, []byte{1}), ErrFormat},
		{"empty block", seal(blockBatch, nil), io.ErrUnexpectedEOF},
		{"unknown optional block", seal(firstOptional, []byte{1}), io.ErrUnexpectedEOF},
		{"nested arrays", seal(blockBatch, bytes.Repeat([]byte{0x91}, 1_500_000)), ErrCorrupt},
		{"array of 2^32-1", seal(blockBatch, []byte{0xdd, 0xff, 0xff, 0xff, 0xff}), ErrCorrupt},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, err := readAll(t, c.file)
			if n != 0 || !errors.Is(err, c.want) {
				t.Errorf("got %d records and %v, want %v", n, err, c.want)
			}
		})
	}
}
