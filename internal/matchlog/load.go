package matchlog

import (
	"errors"
	"io"
	"os"
)

// A Match is a whole match in memory.
type Match struct {
	Header  Header
	Entries []Entry
	Ticks   uint32
}

// Load reads a whole file.
func Load(name string) (*Match, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := NewReader(f)
	if err != nil {
		return nil, err
	}
	m := &Match{Header: r.Header}
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
