package abi_test

import (
	"fmt"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/frozen"
	"github.com/seed-49bee653/samestep/lockstep/abi"
	"github.com/seed-49bee653/samestep/state"
)

// The functions and messages of modules stay as version 1 has them.
func TestFrozen(t *testing.T) {
	rows := []string{fmt.Sprintf("version abi: %d", abi.Version)}
	for f := abi.Function(0); f.String() != fmt.Sprintf("function %d", uint32(f)); f++ {
		rows = append(rows, fmt.Sprintf("function %d: %v", uint32(f), f))
	}
	for _, m := range []struct {
		name   string
		schema *state.Schema
	}{
		{"match", abi.Matches.Schema()}, {"list", abi.Lists.Schema()}, {"contents", abi.Loads.Schema()}, {"state", abi.States.Schema()},
		{"command", abi.Commands.Schema()}, {"frame", abi.Frames.Schema()}, {"outcome", abi.Outcomes.Schema()},
		{"answer", abi.Answers.Schema()},
	} {
		rows = append(rows, fmt.Sprintf("abi %s: %x", m.name, m.schema.AppendDescription(nil)))
	}
	frozen.Check(t, "../../testdata/frozen/abi.txt", rows)
}
