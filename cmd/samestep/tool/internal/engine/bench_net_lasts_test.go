//go:build !js && !wasip1

package engine

import (
	"strings"
	"testing"
	"time"
)

// A match that its rules ended is cured by what can still be changed.
func TestBenchNetLasts(t *testing.T) {
	for _, row := range []struct {
		ended    bool
		period   time.Duration
		arrivals int
		want     string
	}{
		{false, time.Second / 20, 0, ""},
		{true, time.Second / 20, 0, ": try a lower --tick-rate, or a --config whose matches last"},
		{true, time.Second / 20, 20, ": try a lower --tick-rate, or"},
		{true, time.Second / 20, 21, ": try a shorter --time, a lower --tick-rate, or"},
		{true, time.Second, 0, ": try a --config whose matches last"},
	} {
		err := (&loadGuest{ended: row.ended, period: row.period, arrivals: make([]arrival, row.arrivals)}).lasts()
		if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%+v: got %v", row, err)
		}
	}
}
