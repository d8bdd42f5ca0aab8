//go:build !js

package s3

import (
	"os"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/parts"
	"github.com/seed-49bee653/samestep/server/archive/s3"
)

func init() {
	parts.S3 = func(place string) (parts.Store, error) {
		config, err := s3.FromEnvironment(place, os.Getenv)
		if err != nil {
			return nil, err
		}
		return s3.New(config)
	}
}
