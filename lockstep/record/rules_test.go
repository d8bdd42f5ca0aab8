package record_test

import (
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep/record"
)

// Only a note of the system with a sum names a module.
func TestRulesSum(t *testing.T) {
	sum := strings.Repeat("0f", 32)
	for name, c := range map[string]struct {
		record record.Record
		want   string
	}{
		"a note":       {record.Record{Kind: record.KindNote, Player: record.System, Topic: record.TopicRules, Text: sum}, sum},
		"of a player":  {record.Record{Kind: record.KindNote, Player: 0, Topic: record.TopicRules, Text: sum}, ""},
		"another":      {record.Record{Kind: record.KindNote, Player: record.System, Topic: record.TopicChat, Text: sum}, ""},
		"no note":      {record.Record{Kind: record.KindEnd, Player: record.System, Topic: record.TopicRules, Text: sum}, ""},
		"upper case":   {record.Record{Kind: record.KindNote, Player: record.System, Topic: record.TopicRules, Text: strings.ToUpper(sum)}, ""},
		"too short":    {record.Record{Kind: record.KindNote, Player: record.System, Topic: record.TopicRules, Text: sum[1:]}, ""},
		"without text": {record.Record{Kind: record.KindNote, Player: record.System, Topic: record.TopicRules}, ""},
	} {
		if got := c.record.RulesSum(); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
