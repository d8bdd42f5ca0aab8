//go:build !js

package gameset

import (
	"bytes"
	"encoding/json"
	"slices"
)

// UsedRules name the rules with which a verb has simulated a match.
type UsedRules struct {
	Game  string `json:"game"`
	Build string `json:"build"`
	Rules string `json:"rules"` // the SHA-256 of a module, or builtIn
}

// builtIn are the rules of the program itself.
const builtIn = "built in"

// WithRules returns the JSON of v, and in an object also the rules that were used, as its last field.
func WithRules(v any, used []UsedRules) (json.RawMessage, error) {
	b, err := json.Marshal(v)
	if err != nil || len(used) == 0 || len(b) < 3 || b[0] != '{' {
		return b, err
	}
	last, err := json.Marshal(struct {
		SimulatedBy []UsedRules `json:"simulated_by"`
	}{used})
	if err != nil {
		return nil, err
	}
	return slices.Concat(bytes.TrimSuffix(b, []byte("}")), []byte(","), last[1:]), nil
}
