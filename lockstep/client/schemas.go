package client

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

const (
	// maxSchemas is how many bytes the answer with a match's schemas may have.
	maxSchemas = 1 << 20

	// explainTime is how long a session asks for them.
	explainTime = 5 * time.Second
)

// explainSchemas adds to the error of a refusal because of a schema which field differs. The server's refusal has only
// hashes; the schemas of the match whose WebSocket is at an address are fetched by HTTP. Without an answer the error stays.
func explainSchemas(refused error, g *lockstep.Game, address string, fetch func(address string, limit int64, wait time.Duration) []byte) error {
	u, err := url.Parse(address)
	if err != nil || !strings.HasSuffix(u.Path, "/play") {
		return refused
	}
	u.Scheme = strings.Replace(u.Scheme, "ws", "http", 1)
	u.Path = strings.TrimSuffix(u.Path, "play") + "schemas"
	var theirs protocol.Schemas
	if json.Unmarshal(fetch(u.String(), maxSchemas, explainTime), &theirs) != nil {
		return refused
	}
	if differs := theirs.Check(g); differs != nil {
		return fmt.Errorf("%w: %w", refused, differs)
	}
	return refused
}
