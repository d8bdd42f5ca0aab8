package cluster

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/seed-49bee653/samestep/cluster/ownership"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A Match is a match in the directory.
type Match struct {
	Name  string `json:"name"`
	ID    string `json:"id"` // of the match, in hexadecimal digits
	Game  string `json:"game"`
	Build string `json:"build"`
	ownership.Entry

	revision uint64        // in the directory
	seen     lockstep.Time // when this server has seen this revision
}

// keyOf returns the key of a match of a name in the directory. A key must not end with a dot, as names may.
func keyOf(name string) string { return strings.ReplaceAll(name, ".", "=") }

// matchName is the form of the names of matches, as server has it. A name becomes part of the names of files.
var matchName = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$`)

// parseMatch reads an entry of the directory.
func parseMatch(value []byte, revision uint64) (*Match, error) {
	m := &Match{revision: revision}
	if err := json.Unmarshal(value, m); err != nil {
		return nil, fmt.Errorf("cluster: an entry of the directory: %w", err)
	}
	if !matchName.MatchString(m.Name) {
		return nil, fmt.Errorf("cluster: an entry of the directory has the name %q", m.Name)
	}
	return m, nil
}

// matchID returns the id of the match.
func (m *Match) matchID() (id lockstep.MatchID, err error) {
	b, err := hex.DecodeString(m.ID)
	if err != nil || len(b) != len(id) {
		return id, fmt.Errorf("cluster: match %q: got the id %q, want %d hexadecimal digits", m.Name, m.ID, 2*len(id))
	}
	copy(id[:], b)
	return id, nil
}
