//go:build !js

package replays

import (
	"encoding/json"
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/server"
)

// A watchedView is a match as a server tells it.
type watchedView struct {
	server.View
	told bool // all statistics, as to an admin
}

// UnmarshalJSON implements [json.Unmarshaler].
func (v *watchedView) UnmarshalJSON(b []byte) error {
	if err := json.Unmarshal(b, &v.View); err != nil {
		return err
	}
	var has struct {
		Stats map[string]json.RawMessage `json:"stats"`
	}
	err := json.Unmarshal(b, &has)
	v.told = has.Stats["commands"] != nil
	return err
}

// MarshalJSON implements [json.Marshaler]. It leaves out what the server has not told.
func (v *watchedView) MarshalJSON() ([]byte, error) {
	if v.told {
		return json.Marshal(&v.View)
	}
	return json.Marshal(struct {
		*server.View
		Stats host.PublicStats `json:"stats"`
	}{&v.View, v.Stats.Public(v.Stats.Tick)})
}

// reports returns the number of the players' checksums, for a table.
func (v *watchedView) reports() string {
	if !v.told {
		return "-"
	}
	return fmt.Sprint(v.Stats.Reports)
}
