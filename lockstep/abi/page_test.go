package abi_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep/abi"
)

// The page for authors has the numbers of this package.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/spec/abi.md")
	if err != nil {
		t.Fatal(err)
	}
	for f := abi.Describe; f <= abi.Usual; f++ {
		if row := fmt.Sprintf("\n| %d | %v", uint32(f), f); !strings.Contains(string(page), row) {
			t.Errorf("the page has no row%s", row)
		}
	}
	if !strings.Contains(string(page), fmt.Sprintf("\nVersion %d.", abi.Version)) {
		t.Errorf("the page is not of version %d", abi.Version)
	}
	c := abi.Commands.Append(nil, &abi.Command{Tick: 5, Player: 1, Kind: 1, Sequence: 9, Payload: []byte{3, 2}})
	_, hex, _ := strings.Cut(string(page), "payload 03 02} is\n")
	hex, _, _ = strings.Cut(strings.TrimSpace(hex), "\n")
	if got := fmt.Sprintf("%x", c); strings.ReplaceAll(hex, " ", "") != got {
		t.Errorf("the page has the command %s, want %s", hex, got)
	}
}
