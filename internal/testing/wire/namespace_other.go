//go:build !linux

package wire

import (
	"fmt"
	"runtime"

	"github.com/seed-49bee653/samestep/kit/netsim"
)

// NewNamespace fails: other systems than Linux have no network namespaces.
func NewNamespace(netsim.Link) (*Wire, error) {
	return nil, fmt.Errorf("%w: on %s", ErrNamespace, runtime.GOOS)
}
