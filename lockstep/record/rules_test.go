package record_test

import (
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep/record"
)

// Only an event with a sum names a module.
func TestRulesSum(t *testing.T) {
	sum := strings.Repeat("0f", 32)
	for name, c := range map[string]struct {
		record record.Record
		want   string
	}{
		"an event":     {record.Record{Kind: record.KindEvent, Player: record.System, Event: record.EventRules, Text: sum}, sum},
		"a note":       {record.Record{Kind: record.KindNote, Player: record.System, Topic: record.EventRules, Text: sum}, ""},
		"another":      {record.Record{Kind: record.KindEvent, Player: record.System, Event: record.EventOptions, Text: sum}, ""},
		"upper case":   {record.Record{Kind: record.KindEvent, Player: record.System, Event: record.EventRules, Text: strings.ToUpper(sum)}, ""},
		"too short":    {record.Record{Kind: record.KindEvent, Player: record.System, Event: record.EventRules, Text: sum[1:]}, ""},
		"without text": {record.Record{Kind: record.KindEvent, Player: record.System, Event: record.EventRules}, ""},
	} {
		if got := c.record.RulesSum(); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
