package client

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

const (
	// maxSchemas is how many bytes the answer with a match's schemas may have.
	maxSchemas = 1 << 20

	// explainTime is how long a session asks for them.
	explainTime = 5 * time.Second
)

// explain adds to the error of a refusal because of a schema which field differs. The server's refusal has only hashes;
// its schemas are asked for by HTTP. Without an answer the error stays.
func (s *Session) explain(refused error) error {
	if differs := s.compareSchemas(); differs != nil {
		return fmt.Errorf("%w: %w", refused, differs)
	}
	return refused
}

// compareSchemas returns how the schemas of the match differ from the game's, or nil if they do not or are not known.
func (s *Session) compareSchemas() error {
	u, err := url.Parse(s.url)
	if err != nil || !strings.HasSuffix(u.Path, "/play") {
		return nil
	}
	u.Scheme = strings.Replace(u.Scheme, "ws", "http", 1)
	u.Path = strings.TrimSuffix(u.Path, "play") + "schemas"
	var theirs protocol.Schemas
	if json.Unmarshal(s.fetch(u.String(), maxSchemas, explainTime), &theirs) != nil {
		return nil
	}
	return theirs.Check(s.game)
}
