//go:build samestep_page

package replay

import (
	"errors"

	"github.com/seed-49bee653/samestep/lockstep"
)

// sealBody returns nil: the compressor is a tenth of a page's program. The Writer then writes batches, which every reader reads.
func sealBody(_, _ []byte, _ lockstep.Tick, _ uint32, _ Level) []byte { return nil }

// packRules fails: see sealBody.
func packRules([]byte) ([]byte, error) {
	return nil, errors.New("replay: this program compresses nothing")
}
