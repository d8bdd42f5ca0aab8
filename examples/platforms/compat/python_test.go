//go:build !js

package compat_test

import (
	"encoding/json"
	"errors"
	"os/exec"
	"strconv"
	"sync"
	"testing"

	"github.com/seed-49bee653/samestep/examples/platforms/compat"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
)

// pythonResult is what the client in Python prints.
type pythonResult struct {
	Player, First, Ticks, Checksums, Reports, Named, Errors int
	Accepted, Ran, Unannounced, Syncs                       int

	DifferingSyncs int    `json:"differing_syncs"`
	LastChecksum   string `json:"last_checksum"`
}

// python runs the client in Python.
func (s *stage) python(t *testing.T, args ...string) (r pythonResult) {
	path, err := exec.LookPath("python3")
	testenv.Or(t, "python3", err)
	out, err := exec.CommandContext(t.Context(), path, append([]string{"-B", "testdata/client.py", s.address()}, args...)...).Output()
	if err != nil {
		var stderr string
		if e := (*exec.ExitError)(nil); errors.As(err, &e) {
			stderr = string(e.Stderr)
		}
		t.Errorf("%v\n%s", err, stderr)
	} else if err := json.Unmarshal(out, &r); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	return r
}

// fast is a match in which the clients set the pace: the server is as fast as it can be, and waits for them.
func fast() setup {
	always := host.Rate{N: 1 << 28, Per: lockstep.Second, Burst: 1 << 28}
	return setup{
		sockets: true,
		options: compat.Options{Messages: 1 << 20},
		host: host.Options{
			Start: host.StartPolicy{Players: 2}, MaxCatchUp: 100, Lag: 1 << 20, AckEvery: 50,
			Wait:  host.WaitPolicy{Bound: 60 * lockstep.Second, Lead: 200},
			Rates: host.Rates{Pace: always, Commands: always, Messages: always, Bytes: always},
		},
		settings: func(s *lockstep.Settings) { s.TickMicros = lockstep.TickPeriod(1000) },
	}
}

// A client that was written from this page of the package alone, in another language, plays against another one. All checksums agree,
// states in the middle are its own, and the replay verifies. The match has the ticks of ten minutes.
func TestClientInAnotherLanguage(t *testing.T) {
	t.Parallel()
	length := int(tenMinutes(t))
	s := newStage(t, fast())
	s.do(t, func(h *host.Host) {
		if err := h.Admin().SetSpeed(0, 1000); err != nil {
			t.Error(err)
		}
	})
	var all [2]pythonResult
	var done sync.WaitGroup
	for i := range all {
		done.Go(func() {
			all[i] = s.python(t, tokenOf(i), strconv.Itoa(length), "resync="+strconv.Itoa(length/2+i), "every="+strconv.Itoa(40+i))
		})
	}
	done.Wait()
	for i, r := range all {
		checks := length/100 - max(r.First-1, 0)/100 // a client that comes late on a busy machine misses the first ones
		if r.Ticks != length+1 || r.Checksums != checks || r.Reports > 0 || r.Errors > 0 || r.DifferingSyncs > 0 || r.Syncs != 2 {
			t.Errorf("client %d: %+v", i, r)
		}
		if r.Ran < length/100 || r.Unannounced > 0 || r.LastChecksum != all[0].LastChecksum {
			t.Errorf("client %d: %+v", i, r)
		}
	}
	if got := s.verify(t); got < all[0].Ran+all[1].Ran {
		t.Errorf("the replay has %d commands, want those of both", got)
	}
}

// A client whose own state differs is named to everybody, asks for the state, and agrees again. The other one, which the
// report names beside the server, asks for the state too, and has it already.
func TestResyncInAnotherLanguage(t *testing.T) {
	t.Parallel()
	const wrong = 1050
	length := 3000
	if testenv.Small(t) {
		length = 1500
	}
	s := newStage(t, fast())
	var all [2]pythonResult
	var done sync.WaitGroup
	for i := range all {
		done.Go(func() {
			args := []string{tokenOf(i), strconv.Itoa(length), "every=" + strconv.Itoa(40+i)}
			if i == 1 {
				args = append(args, "wrong="+strconv.Itoa(wrong))
			}
			all[i] = s.python(t, args...)
		})
	}
	done.Wait()
	for i, r := range all {
		checks := length/100 - max(r.First-1, 0)/100 // a client that comes late on a busy machine misses the first ones
		if r.Ticks != length+1 || r.Checksums != checks || r.Errors > 0 || r.LastChecksum != all[0].LastChecksum {
			t.Errorf("client %d: %+v", i, r)
		}
		if r.Reports == 0 || r.Reports != all[0].Reports || r.DifferingSyncs != i || r.Syncs < 1+i {
			t.Errorf("client %d: %+v", i, r)
		}
	}
	if all[1].Named != all[1].Reports {
		t.Errorf("the client that differs: %+v, want it in each report", all[1])
	}
	s.verify(t)
}
