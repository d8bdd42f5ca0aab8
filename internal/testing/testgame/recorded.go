package testgame

import (
	"errors"
	"io"
	"os"

	"github.com/seed-49bee653/samestep/internal/matchlog"
)

// A Recorded is a whole match of another engine in memory.
type Recorded struct {
	Header  matchlog.Header
	Entries []matchlog.Entry
	Ticks   uint32
}

// LoadRecorded reads a whole file.
func LoadRecorded(name string) (*Recorded, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := matchlog.NewReader(f)
	if err != nil {
		return nil, err
	}
	m := &Recorded{Header: r.Header}
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			m.Ticks = r.Ticks()
			return m, nil
		}
		if err != nil {
			return nil, err
		}
		m.Entries = append(m.Entries, e)
	}
}
