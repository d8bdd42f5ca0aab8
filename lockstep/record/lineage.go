package record

import (
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/seed-49bee653/samestep/internal/pack"
)

// A Lineage says in which state of which match, its parent, another match began. It is the text of [EventLineage].
type Lineage struct {
	Content string `json:"content_hash"` // of the parent's log up to Tick: a SHA-256 hash, in 64 hexadecimal digits
	Match   string `json:"match"`        // the parent's id, in 32 hexadecimal digits
	Name    string `json:"name"`         // the parent's name on its server, or of its file
	Tick    Tick   `json:"tick"`
}

// Text returns the text of the event.
func (l Lineage) Text() string {
	l.Name = pack.Clip(l.Name, MaxName)
	b, err := json.Marshal(l)
	if err != nil {
		panic(err) // texts and a number have a JSON form
	}
	return string(b)
}

// ParseLineage reads the text of [EventLineage].
func ParseLineage(text string) (l Lineage, err error) {
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		return Lineage{}, fmt.Errorf("lockstep: lineage: %w: %w", ErrMalformed, err)
	}
	for _, f := range []struct {
		name, got string
		digits    int
	}{{"content_hash", l.Content, 64}, {"match", l.Match, 32}} {
		if _, err := hex.DecodeString(f.got); err != nil || len(f.got) != f.digits {
			return Lineage{}, fmt.Errorf("lockstep: lineage: %w: %s: got %q, want %d hexadecimal digits", ErrMalformed, f.name, pack.Clip(f.got, MaxName), f.digits)
		}
	}
	if err := CheckName("name", l.Name); err != nil {
		return Lineage{}, fmt.Errorf("lockstep: lineage: %w: %w", ErrMalformed, err)
	}
	return l, nil
}
