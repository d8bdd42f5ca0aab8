package storage

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// A segment has whatever it has, or is malformed; it never makes a reader allocate more than it has.
func FuzzSegment(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{1})
	f.Add([]byte{1, 5, 2, 'a', 'b', 9, 0})
	f.Add([]byte{1, 5, 3, 'a'})
	f.Add([]byte{2, 5, 0})
	f.Fuzz(func(t *testing.T, segment []byte) {
		all, err := parseSegment(segment)
		if err != nil {
			if all != nil {
				t.Error("messages with an error")
			}
			return
		}
		again := []byte{segmentFormat}
		for _, m := range all {
			again = binary.AppendUvarint(again, m.sequence)
			again = binary.AppendUvarint(again, uint64(len(m.message)))
			again = append(again, m.message...)
		}
		if second, err := parseSegment(again); err != nil || len(second) != len(all) {
			t.Errorf("got %d messages, %v, want %d", len(second), err, len(all))
		}
		if len(segment) > 0 && len(again) == len(segment) && !bytes.Equal(again, segment) {
			t.Error("two forms of one length")
		}
	})
}

func TestMalformedSegments(t *testing.T) {
	for _, segment := range [][]byte{{2}, {1, 5}, {1, 5, 3, 'a'}, {1, 5, 0, 5, 0}, {1, 5, 0, 4, 0}, {1, 0x80}, {1, 5, 0x80}, {1, 5, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}} {
		if all, err := parseSegment(segment); err == nil {
			t.Errorf("%v: got %v", segment, all)
		}
	}
}
