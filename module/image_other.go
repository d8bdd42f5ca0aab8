//go:build !unix && !js

package module

import (
	"errors"

	"github.com/tetratelabs/wazero/experimental"
)

// mapped returns an error: instances copy the image.
func (i *image) mapped(int) (experimental.LinearMemory, error) { return nil, errors.ErrUnsupported }
