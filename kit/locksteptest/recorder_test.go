package locksteptest_test

import (
	"fmt"
	"testing"
)

// A recorder is a test that only records its failure.
type recorder struct {
	testing.TB
	text string
	log  string
	dir  string
}

func (r *recorder) Helper() {}

func (r *recorder) Name() string { return "TestHerds/a+b" }

func (r *recorder) ArtifactDir() string { return r.dir }

func (r *recorder) Fatalf(format string, args ...any) {
	r.text = fmt.Sprintf(format, args...)
	panic("failed")
}

func (r *recorder) Logf(format string, args ...any) { r.log = fmt.Sprintf(format, args...) }

func (r *recorder) Errorf(format string, args ...any) { r.text = fmt.Sprintf(format, args...) }
