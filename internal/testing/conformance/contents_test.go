package conformance

import (
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

var recordNames = map[record.Kind]string{
	record.KindHeader: "header", record.KindKeyframe: "keyframe", record.KindFrame: "frame", record.KindEmpty: "empty",
	record.KindChecksum: "checksum record", record.KindMismatch: "mismatch", record.KindEnd: "end", record.KindNote: "note", record.KindEvent: "event",
}

// maxContents limits the described messages of one WebSocket message.
const maxContents = 12

// contents describes a WebSocket message for people: the values of each message and the
// name of each record.
func contents(b []byte) []any {
	var r protocol.Reader
	all := []any{}
	for len(b) > 0 {
		if len(all) == maxContents {
			return append(all, "and more")
		}
		if protocol.IsRecord(b) {
			n, ok := valueSize(b)
			if !ok {
				return append(all, "what is no record")
			}
			name := recordNames[record.KindOf(b)]
			if name == "" {
				name = "a record of an unknown kind"
			}
			all, b = append(all, name), b[n:]
			continue
		}
		var m protocol.Message
		rest, err := r.Read(&m, b)
		if err != nil {
			return append(all, "what is no message")
		}
		all, b = append(all, messageFacts(&m)), rest
	}
	return all
}

// valueSize returns the length of the MessagePack value at the beginning of b. It knows
// the types that records have.
func valueSize(b []byte) (n int, ok bool) {
	if len(b) == 0 {
		return 0, false
	}
	number := func(width int) int {
		v := 0
		for i := range width {
			if 1+i < len(b) {
				v = v<<8 | int(b[1+i])
			}
		}
		return v
	}
	items := 0
	switch c := b[0]; {
	case c < 0x80 || c == 0xc2 || c == 0xc3:
		n = 1
	case c >= 0x90 && c < 0xa0:
		n, items = 1, int(c&15)
	case c >= 0xa0 && c < 0xc0:
		n = 1 + int(c&31)
	case c >= 0xc4 && c <= 0xc6:
		width := 1 << (c - 0xc4)
		n = 1 + width + number(width)
	case c >= 0xcc && c <= 0xcf:
		n = 1 + 1<<(c-0xcc)
	case c >= 0xd9 && c <= 0xdb:
		width := 1 << (c - 0xd9)
		n = 1 + width + number(width)
	case c == 0xdc || c == 0xdd:
		width := 2 << (c - 0xdc)
		n, items = 1+width, number(width)
	default:
		return 0, false
	}
	for range items {
		if n > len(b) {
			return 0, false
		}
		size, ok := valueSize(b[n:])
		if !ok {
			return 0, false
		}
		n += size
	}
	return n, n <= len(b)
}
