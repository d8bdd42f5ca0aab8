package matchlog

import (
	"bytes"
	"encoding/base64"
)

// ParseEntry reads a line after the header, without its line end. The last line is no Entry, but ends the match.
func (h *Header) ParseEntry(line []byte) (e Entry, end bool, err error) {
	line = bytes.Trim(line, " \t\r") // as encoding/json does, which takes ten times as long
	if e, ok := h.quickEntry(line); ok {
		return e, false, nil
	}
	return h.parseEntry(line)
}

// quickEntry reads a command, a checksum or a state as recorders write them: without spaces, escapes and other characters
// than those of ASCII. It returns false for every other line, also for a malformed one: then encoding/json reads it, which
// takes ten times as long. Where it returns true, the result is the same.
func (h *Header) quickEntry(line []byte) (e Entry, ok bool) {
	q := quickLine{rest: line}
	const tick, player, sequence, kind, payload, sum, sections, dump, more = 1, 2, 4, 8, 16, 32, 64, 128, 256
	seen := 0
	if !q.take('{') {
		return e, false
	}
	for {
		name, field, n := q.text(), 0, uint64(0)
		if !q.take(':') {
			return e, false
		}
		switch string(name) {
		case "t":
			field, n = tick, q.number(maxTick)
			e.Tick = uint32(n)
		case "p":
			field, n = player, q.number(uint64(h.Players)-1)
			e.Player = uint8(n)
		case "s":
			field, n = sequence, q.number(1<<32-1)
			e.Sequence = uint32(n)
		case "k":
			field, n = kind, q.number(1<<16-1)
			e.Kind = uint16(n)
		case "d":
			field, e.Payload = payload, q.bytes()
		case "sum":
			field, e.Hash = sum, q.sum()
		case "sections":
			field, e.Sections = sections, q.sums(len(h.Sections))
		case "state":
			field, e.State = dump, q.bytes()
		case "more":
			field, e.More = more, q.isTrue()
		}
		if q.failed || field == 0 || seen&field != 0 {
			return Entry{}, false
		}
		seen |= field
		if !q.take(',') {
			break
		}
	}
	if !q.take('}') || len(q.rest) > 0 {
		return Entry{}, false
	}
	switch seen {
	case tick | player | sequence | kind | payload:
		return e, true
	case tick | player | sum, tick | player | sum | sections:
		e.Checksum = true
		return e, true
	case tick | player | dump, tick | player | dump | more:
		e.Dump = true
		return e, h.Schema != nil
	}
	return Entry{}, false
}

// A quickLine is the rest of a line. It is of no use any more after it has failed.
type quickLine struct {
	rest   []byte
	failed bool
}

func (q *quickLine) take(c byte) bool {
	if len(q.rest) == 0 || q.rest[0] != c {
		return false
	}
	q.rest = q.rest[1:]
	return true
}

// text reads a text without its quotes.
func (q *quickLine) text() []byte {
	if q.take('"') {
		for i, c := range q.rest {
			if c == '"' {
				text := q.rest[:i]
				q.rest = q.rest[i+1:]
				return text
			}
			if c < ' ' || c > '~' || c == '\\' {
				break
			}
		}
	}
	q.failed = true
	return nil
}

// number reads a whole number.
func (q *quickLine) number(most uint64) (n uint64) {
	at := 0
	for at < len(q.rest) && at < 11 && q.rest[at] >= '0' && q.rest[at] <= '9' {
		n = n*10 + uint64(q.rest[at]-'0')
		at++
	}
	if at == 0 || at > 1 && q.rest[0] == '0' || n > most {
		q.failed = true
	}
	q.rest = q.rest[at:]
	return n
}

// bytes reads a text in base64.
func (q *quickLine) bytes() []byte {
	text := q.text()
	b := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Strict().Decode(b, text)
	q.failed = q.failed || err != nil
	return b[:n]
}

// sum reads a checksum.
func (q *quickLine) sum() (sum uint64) {
	text := q.text()
	q.failed = q.failed || len(text) != 16
	for _, c := range text {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		default:
			q.failed = true
		}
		sum = sum<<4 | uint64(c&15)
	}
	return sum
}

// sums reads a list of n checksums.
func (q *quickLine) sums(n int) []uint64 {
	q.failed = q.failed || n == 0 || !q.take('[')
	all := make([]uint64, 0, n)
	for !q.failed && len(all) < n {
		all = append(all, q.sum())
		end := byte(',')
		if len(all) == n {
			end = ']'
		}
		q.failed = q.failed || !q.take(end)
	}
	return all
}

func (q *quickLine) isTrue() bool {
	if len(q.rest) < 4 || string(q.rest[:4]) != "true" {
		q.failed = true
		return false
	}
	q.rest = q.rest[4:]
	return true
}
