package measure

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// The age says of a failure before the first look what the counter does not.
func TestFailureAge(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := NewFailure(prometheus.NewCounter(prometheus.CounterOpts{Name: "failures_total", Help: "Of a test."}), "test", "")
		if got := f.age(); !math.IsInf(got, 1) {
			t.Errorf("got %v without a failure, want +Inf", got)
		}
		f.Inc()
		time.Sleep(7 * time.Second)
		if got := f.age(); got != 7 {
			t.Errorf("got %v, want 7", got)
		}
		f.Inc()
		if got := f.age(); got != 0 {
			t.Errorf("got %v after another failure, want 0", got)
		}
	})
}
