//go:build !js

package s3_test

import (
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/server/archive/s3"
)

// A name that no bucket has is an error at the start, not one of a store that is away.
func TestBucketNames(t *testing.T) {
	for name, good := range map[string]bool{"league": true, "a.b-3": true, "eu": false, "": false, "a..b": false, strings.Repeat("a", 64): false} {
		if s, err := s3.New(s3.Config{Bucket: name}); (err == nil) != good {
			t.Errorf("bucket %q: got %v", name, err)
		} else if s != nil {
			s.Close()
		}
	}
}
