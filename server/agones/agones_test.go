package agones_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-49bee653/samestep/server/agones"
)

// A sidecar stands in for that of Agones: its gateway takes POST with a body, and answers 400 to an empty one.
type sidecar struct {
	mu    sync.Mutex
	down  bool
	calls []string // but health
	beats int
}

func (s *sidecar) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	answer := &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("{}")), Request: r}
	name := strings.TrimPrefix(r.URL.String(), "http://localhost:9358/")
	body, err := io.ReadAll(r.Body)
	switch {
	case s.down:
		return nil, errors.New("connection refused")
	case err != nil || r.Method != http.MethodPost || string(body) != "{}" || r.Header.Get("Content-Type") != "application/json":
		answer.StatusCode = http.StatusBadRequest
	case name == "health":
		s.beats++
	case slices.Contains([]string{"ready", "allocate", "shutdown"}, name):
		s.calls = append(s.calls, name)
	default:
		answer.StatusCode = http.StatusNotFound
	}
	return answer, nil
}

// set makes the sidecar answer, or not.
func (s *sidecar) set(down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = down
}

// taken returns the calls since the last time, and how often it was told of health.
func (s *sidecar) taken() (calls string, beats int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	calls, beats = strings.Join(s.calls, " "), s.beats
	s.calls, s.beats = nil, 0
	return calls, beats
}

// A watched server, with what a test makes of it.
type watched struct {
	ready, used atomic.Bool
	stuck       chan struct{} // Ready waits for it, unless it is nil
}

func start(t *testing.T, to *sidecar, w *watched) *agones.Sidecar {
	t.Helper()
	s, err := agones.Start(agones.Options{
		Port: "9358", Transport: to, Log: slog.New(slog.DiscardHandler), Used: w.used.Load,
		Ready: func() bool {
			if w.stuck != nil {
				<-w.stuck
			}
			return w.ready.Load()
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The sidecar is told of each change of the server once, and of its health all the time. One that starts late hears of the state then.
func TestSidecar(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to, w := &sidecar{down: true}, new(watched)
		s := start(t, to, w)
		expect := func(what, want string) {
			t.Helper()
			time.Sleep(10 * agones.Period)
			calls, beats := to.taken()
			if calls != want {
				t.Errorf("%s: got calls %q, want %q", what, calls, want)
			}
			if beats < 9 && !to.down {
				t.Errorf("%s: got %d signs of health in 10 periods, want 9 or more", what, beats)
			}
		}
		w.ready.Store(true)
		expect("the sidecar does not run yet", "")
		to.set(false)
		expect("the server is ready", "ready")
		w.ready.Store(false)
		expect("the server is not ready any more", "")
		w.used.Store(true)
		expect("somebody plays", "allocate")
		w.used.Store(false)
		expect("nobody plays, and the server is not ready", "")
		w.ready.Store(true)
		expect("the server is ready again", "ready")
		to.set(true)
		w.used.Store(true)
		expect("the sidecar is away", "")
		to.set(false)
		expect("the sidecar is back", "allocate")
		if err := s.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if calls, _ := to.taken(); calls != "shutdown" {
			t.Errorf("got calls %q at the end, want shutdown", calls)
		}
		time.Sleep(10 * agones.Period)
		if calls, beats := to.taken(); calls != "" || beats > 0 {
			t.Errorf("got calls %q and %d signs of health after the end, want none", calls, beats)
		}
	})
}

// A server that does not answer gives no sign of health, so Agones removes it.
func TestStuckServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to, w := new(sidecar), &watched{stuck: make(chan struct{})}
		w.ready.Store(true)
		s := start(t, to, w)
		time.Sleep(10 * agones.Period)
		if calls, beats := to.taken(); calls != "" || beats > 0 {
			t.Errorf("got calls %q and %d signs of health of a server that is stuck, want none", calls, beats)
		}
		close(w.stuck)
		time.Sleep(10 * agones.Period)
		if calls, beats := to.taken(); calls != "ready" || beats == 0 {
			t.Errorf("got calls %q and %d signs of health of a server that goes on, want both", calls, beats)
		}
		s.Shutdown(t.Context())
	})
}

// A sidecar that is away does not keep a server from its end.
func TestShutdownWithoutSidecar(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, &sidecar{down: true}, new(watched))
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want that the time is over", err)
		}
	})
}

func TestWrongPort(t *testing.T) {
	for _, port := range []string{"", "0", "-1", "65536", "localhost:9358"} {
		if _, err := agones.Start(agones.Options{Port: port}); err == nil || !strings.Contains(err.Error(), agones.PortVariable) {
			t.Errorf("port %q: got %v, want an error that names %s", port, err, agones.PortVariable)
		}
	}
}
