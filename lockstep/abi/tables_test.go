package abi_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep/abi"
	"github.com/seed-49bee653/samestep/state"
)

const page = "../../docs/spec/abi.md"

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
		"answer": abi.Answers.Schema().Root().Field(1),
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
