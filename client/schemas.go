package client

import (
	"context"
	"encoding/json"
	"fmt"
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
func explainSchemas(refused error, g *lockstep.Game, address string, o *Options) error {
	p, ok := placeOf(address)
	if !ok {
		return refused
	}
	get, done, err := o.fetcher()
	if err != nil {
		return refused
	}
	defer done()
	ctx, cancel := context.WithTimeout(context.Background(), explainTime)
	defer cancel()
	var theirs protocol.Schemas
	if text, err := get(ctx, p.about("schemas"), maxSchemas); err != nil || json.Unmarshal(text, &theirs) != nil {
		return refused
	}
	if differs := theirs.Check(g); differs != nil {
		return fmt.Errorf("%w: %w", refused, differs)
	}
	return refused
}
