package abi_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-49bee653/samestep/lockstep/abi"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/state"
)

var rewrite = flag.Bool("rewrite", false, "write the examples of docs/rules-abi.md")

const page = "../../docs/rules-abi.md"

func readText(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// types returns the types of the fields of a message, as the page has them. The page describes the elements of some slices in a row
// of their own.
func types(n state.Node) (list []string) {
	switch n.Kind() {
	case state.Struct:
		for i := range n.NumFields() {
			list = append(list, types(n.Field(i))...)
		}
		return list
	case state.Slice:
		switch apart := n.Name() == "Commands" || n.Name() == "Draws" || n.Name() == "Phases"; {
		case n.Elem().Kind() == state.Uint8:
			return []string{"bytes"}
		case apart:
			return []string{"slice"}
		}
		return append([]string{"slice"}, types(n.Elem())...)
	}
	return []string{n.Kind().String()}
}

var (
	notes = regexp.MustCompile(`\([^)]*\)`)
	words = regexp.MustCompile(`\b(u?int(8|16|32|64)|bool|string|bytes|slice)\b`)
)

// checkMessages returns the messages whose row has other types than their schema.
func checkMessages(text string) (wrong []string) {
	outcome := abi.Outcomes.Schema().Root()
	for name, n := range map[string]state.Node{
		"match": abi.Matches.Schema().Root(), "list of assets": abi.Lists.Schema().Root(), "contents": abi.Loads.Schema().Root(),
		"state": abi.States.Schema().Root(), "command": abi.Commands.Schema().Root(), "frame": abi.Frames.Schema().Root(),
		"outcome": outcome, "draw": outcome.Field(2).Elem(), "phase": outcome.Field(3).Elem(),
	} {
		_, table, _ := strings.Cut(text, "| message | fields |\n")
		_, row, _ := strings.Cut(table, "\n| "+name+" | ")
		row, _, _ = strings.Cut(row, "|")
		if got := words.FindAllString(notes.ReplaceAllString(row, ""), -1); !slices.Equal(got, types(n)) {
			wrong = append(wrong, fmt.Sprintf("%s: got %v, want %v", name, got, types(n)))
		}
	}
	return wrong
}

// The page has the fields of each message.
func TestMessagesOnPage(t *testing.T) {
	text := readText(t, page)
	for _, w := range checkMessages(text) {
		t.Error(w)
	}
	other := strings.Replace(text, "| state | tick uint32", "| state | tick uint64", 1)
	if got := checkMessages(other); len(got) != 1 || !strings.HasPrefix(got[0], "state: ") {
		t.Errorf("control: a wrong row of state gives %q", got)
	}
}

// checkSystem returns the engine's commands that the page has not, or otherwise.
func checkSystem(t *testing.T, text string) (wrong []string) {
	_, table, _ := strings.Cut(text, "| kind | name | payload |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	for _, d := range record.SystemDescriptions() {
		s, err := state.ParseSchema(d.Schema)
		if err != nil {
			t.Fatal(err)
		}
		_, row, _ := strings.Cut(table, fmt.Sprintf("\n| %d | %s", d.Kind, d.Name))
		row, _, _ = strings.Cut(row, "\n")
		if got := words.FindAllString(row, -1); !slices.Equal(got, types(s.Root())) {
			wrong = append(wrong, fmt.Sprintf("%d %s: got %v, want %v", d.Kind, d.Name, got, types(s.Root())))
		}
	}
	if got, want := strings.Count(table, "\n| "), len(record.SystemDescriptions()); got != want {
		wrong = append(wrong, fmt.Sprintf("got %d kinds, want %d", got, want))
	}
	return wrong
}

// The page has the commands of the engine.
func TestSystemCommandsOnPage(t *testing.T) {
	text := readText(t, page)
	for _, w := range checkSystem(t, text) {
		t.Error(w)
	}
	other := strings.Replace(text, "| 7 | speed set | per cent uint16", "| 7 | speed set | per cent uint8", 1)
	if got := checkSystem(t, other); len(got) != 1 || !strings.HasPrefix(got[0], "7 ") {
		t.Errorf("control: a wrong row of speed set gives %q", got)
	}
}

// examples returns the rows of the messages in hexadecimal digits. Fields of the same type have different
// values, so that an author who swaps two of them sees it.
func examples() string {
	match := abi.Match{Config: []byte{4, 20, 0}, Settings: abi.Settings{Seed: 1, Players: 2, TickMicros: 50000, CheckEvery: 3, KeyframeEvery: 600, Relay: true}}
	take := abi.Command{Tick: 5, Player: 1, Kind: 1, Sequence: 9, Payload: []byte{3, 2}}
	rows := []struct {
		value string
		bytes []byte
	}{
		{"match {seed 1, players 2, tick micros 50000, check every 3, keyframe every 600, relay true, config 04 14 00}", abi.Matches.Append(nil, &match)},
		{"list of assets {{name `a`, SHA-256 shortened here to `0f`, size 7}}", abi.Lists.Append(nil, &abi.AssetList{Assets: []record.Asset{{Name: "a", SHA256: "0f", Size: 7}}})},
		{"contents {{68 69}}", abi.Loads.Append(nil, &abi.Contents{Contents: []abi.Content{{Bytes: []byte("hi")}}})},
		{"state {tick 5, world 01 02}", abi.States.Append(nil, &abi.State{Tick: 5, Canonical: []byte{1, 2}})},
		{"frame {tick 5, want draws false, want phases true, the command above}", abi.Frames.Append(nil, &abi.Frame{Tick: 5, Phases: true, Commands: []abi.Command{take}})},
		{"outcome {ended true, result 01, no draws, no phases}", abi.Outcomes.Append(nil, &abi.Outcome{Ended: true, Result: []byte{1}})},
		{"outcome {ended false, no result, draw {`hit`, entity 7, `fight`}, phase {`fight`, hash 8, {9}}}", abi.Outcomes.Append(nil, &abi.Outcome{
			Draws: []abi.Draw{{Purpose: "hit", Entity: 7, Phase: "fight"}}, Phases: []abi.Phase{{Name: "fight", Hash: 8, Sections: []uint64{9}}}})},
	}
	var b strings.Builder
	b.WriteString("| example | bytes |\n|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | `% x` |\n", r.value, r.bytes)
	}
	return b.String()
}

// withExamples returns the page with the rows that examples gives.
func withExamples(t *testing.T, text string) string {
	const title = "One of each of the others:\n\n"
	before, after, found := strings.Cut(text, title)
	_, rest, end := strings.Cut(after, "\n\n")
	if !found || !end {
		t.Fatalf("no table under %q", title)
	}
	return before + title + examples() + "\n" + rest
}

// The page has the bytes of each message.
func TestExamplesOnPage(t *testing.T) {
	got := readText(t, page)
	want := withExamples(t, got)
	if *rewrite {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/rules-abi.md differs from the messages; -rewrite writes it (-want +got):\n%s", diff)
	}
	if other := strings.Replace(got, "`05 00 00 00 02", "`05 00 00 00 03", 1); other == got || withExamples(t, other) != want {
		t.Error("control: a wrong row is not corrected")
	}
}
