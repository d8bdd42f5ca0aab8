package probe

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// An Event is one entry of a recording.
type Event struct {
	Flow   uint64 // 0: the goroutine that called Step
	Site   int
	Depth  int    // 1 for what Step itself does
	Entity string // such as "Unit 12"; "" for none
	Value  string
	Old    string // before the assignment, if Replaces
	// Replaces says that the event is an assignment whose variable had a value before.
	Replaces bool
}

// A Reader reads the events of a recording.
type Reader struct{ in *bufio.Reader }

// NewReader returns a Reader of a recording.
func NewReader(r io.Reader) *Reader { return &Reader{bufio.NewReaderSize(r, 1<<16)} }

// ErrRecording is wrapped by the errors of a recording that is cut short or no recording.
var ErrRecording = errors.New("probe: not a whole recording")

// Next returns the next event, or [io.EOF] at the end.
func (r *Reader) Next() (e Event, err error) {
	e.Flow, err = binary.ReadUvarint(r.in)
	if err == io.EOF {
		return e, io.EOF
	}
	var n [3]uint64
	for i := range n {
		if err == nil {
			n[i], err = binary.ReadUvarint(r.in)
		}
	}
	e.Site, e.Depth, e.Replaces = int(n[0]), int(n[1]), n[2]&1 != 0
	texts := []*string{&e.Entity, &e.Value, &e.Old}
	if !e.Replaces {
		texts = texts[:2]
	}
	for _, t := range texts {
		if err == nil {
			*t, err = r.text()
		}
	}
	if err != nil {
		return e, fmt.Errorf("%w: %w", ErrRecording, err)
	}
	return e, nil
}

const maxEventText = 1 << 16

func (r *Reader) text() (string, error) {
	n, err := binary.ReadUvarint(r.in)
	if err != nil || n == 0 {
		return "", err
	}
	if n > maxEventText {
		return "", fmt.Errorf("got a text of %d bytes, want at most %d", n, maxEventText)
	}
	b := make([]byte, n)
	_, err = io.ReadFull(r.in, b)
	return string(b), err
}
