package replay

import (
	"fmt"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/frozen"
)

// The blocks of a replay file stay as version 1 has them.
func TestFrozen(t *testing.T) {
	rows := []string{fmt.Sprintf("version replay file: %d, %q, %d bytes before the first block", version, magic, prefixSize), fmt.Sprintf("version bundle: %d", bundleFormat)}
	for _, c := range frozen.Constants(t, "block.go", "block") {
		rows = append(rows, fmt.Sprintf("block %d: %s", c.Number, c.Name))
	}
	frozen.Check(t, "../testdata/frozen/replay.txt", rows)
}
