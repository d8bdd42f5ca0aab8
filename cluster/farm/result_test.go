//go:build !js && !wasip1

package farm_test

import (
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cluster/farm"
	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/replay"
)

// A line names who was wrong first, and nobody if the rules have no fixed result.
func TestResultString(t *testing.T) {
	r := farm.Result{File: "a.ssr", Class: replay.ClassDesync, Tick: 20, Party: desync.WrongReferee}
	if got := r.String(); !strings.HasSuffix(got, "; wrong first: referee at tick 20") {
		t.Errorf("got %q", got)
	}
	r.Party = desync.NoFixedResult
	if got := r.String(); !strings.HasSuffix(got, "; no fixed result") {
		t.Errorf("got %q", got)
	}
}
