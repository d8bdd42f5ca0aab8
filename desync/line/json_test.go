package line

import (
	"encoding/json"
	"strings"
	"testing"
)

// The JSON has every part of a result.
func TestResultJSON(t *testing.T) {
	at := Place{"a.go", 1, "f", "x++"}
	b, err := json.Marshal(&Result{
		Mode: Versions, Sides: [2]string{"A", "B"}, First: 1, Last: 3, Tick: 2, Fields: []Field{{Path: "Units[0].Health", Values: [2]string{"1", "2"}}},
		Phase: "combat", Panics: [2]string{"", "boom"}, Dropped: 7, Finding: &Finding{
			Reason: Value, Where: [2]*Place{&at, nil}, Text: "x", Entity: "Unit 1", Values: [2]string{"1", "2"}, Path: []Place{at}, First: &at, Written: &at, WrittenTick: 1,
			Writes: []Write{{Place: at, Name: "x", Text: "x++", Entity: "Unit 1", Seen: true}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range strings.Fields(`verdict mode sides first last tick fields path values phase panics finding reason where file line func source text entity
		written written_tick writes place name seen probes events dropped build_seconds run_seconds`) {
		if !strings.Contains(string(b), `"`+key+`":`) {
			t.Errorf("got no %s in %s", key, b)
		}
	}
}
