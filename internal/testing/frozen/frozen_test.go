package frozen

import (
	"slices"
	"strings"
	"testing"
)

// Every change of a row of each sort is refused, and so is growth that a reader of version 1 does not pass over.
func TestCompare(t *testing.T) {
	frozen := []string{
		"version records and messages: 1", "engine log: samestep/1", "header 3: build, string", "record 1: Header 9d01", "record 64: Note", "block 1: Batch",
		"block 64: Index", "event pace: a seat", "topic chat: of a player", "system 1: joined", "message 32: auth, client: protocol (u32)", "error 1: malformed",
		"closing 1: left", "reason 1: the match has ended", "capability views: Views", "function 0: Describe", "abi match: struct{}", "limit record.MaxName: 128", "case a: record ok 00",
	}
	if wrong, grown := compare(frozen, frozen); len(wrong)+len(grown) > 0 {
		t.Fatalf("the same rows: got %q, grown %q", wrong, grown)
	}
	for i, r := range frozen {
		if wrong, _ := compare(frozen, slices.Delete(slices.Clone(frozen), i, i+1)); len(wrong) != 1 || wrong[0] != "gone: "+r {
			t.Errorf("without %s: got %q", r, wrong)
		}
		changed := slices.Clone(frozen)
		changed[i] += "!"
		if wrong, _ := compare(frozen, changed); len(wrong) != 1 || !strings.HasPrefix(wrong[0], "changed: "+r+"\n") {
			t.Errorf("changed %s: got %q", r, wrong)
		}
		if wrong, _ := compare(frozen, append(slices.Clone(frozen), r)); len(wrong) != 1 || !strings.HasPrefix(wrong[0], "twice: ") {
			t.Errorf("twice %s: got %q", r, wrong)
		}
	}
	for r, grows := range map[string]bool{
		"record 68: Evidence": true, "record 127: Last": true, "record 128: Own": false, "record 63: Tail": false, "record 8: Tail": false, "record x: Tail": false,
		"block 67: Evidence": true, "block 127: Last": true, "block 128: Own": false, "block 3: Tail": false,
		"event audience: the match": true, "topic map: of a player": true, "error 9: new": true, "closing 14: new": true, "reason 12: new": true,
		"capability audiences: Audiences": true, "case b: record ok 01": true,
		"message 62: evidence, server, needs views: tick (u32)": true, "message 62: evidence, server, needs nothing: tick (u32)": false,
		"message 64: evidence, server, needs views: tick (u32)": false, "message 62: evidence, server: tick (u32)": false, "system 9: moved": false, "header 20: more, string": false, "version replay file: 2": false,
		"engine other: samestep/2": false, "function 13: More": false, "abi more: struct{}": false, "limit record.MaxMore: 1": false, "other 1: new": false, "no row": false,
	} {
		wrong, grown := compare(frozen, append(slices.Clone(frozen), r))
		if grows && (len(wrong) > 0 || !slices.Equal(grown, []string{r})) || !grows && (len(wrong) != 1 || len(grown) > 0) {
			t.Errorf("%s: got wrong %q, grown %q, want growth %v", r, wrong, grown, grows)
		}
	}
}

func TestConstants(t *testing.T) {
	got := Constants(t, "../../../replay/block.go", "block")
	if !slices.Contains(got, Constant{Name: "blockIndex", Number: 64}) || len(Constants(t, "../../../replay/block.go", "none")) > 0 {
		t.Errorf("got %v", got)
	}
}
