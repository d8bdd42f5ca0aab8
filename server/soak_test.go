//go:build !js

package server_test

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// go test ./server -run Soak -v -timeout 2h -args -soak 24h
var soakFor = flag.Duration("soak", 2*time.Minute, "how long TestSoak plays, in virtual time")

const (
	soakRound  = 20 * time.Second // until something else happens
	soakSettle = 30 * time.Second // in which nothing does, before a look

	// Limits of the growth of memory, in percent.
	maxHourly = 5
	maxTotal  = 10
)

// A sample is the resources of a soak at an idle moment.
type sample struct {
	at         time.Duration
	heap       int64 // bytes in use, without what other tests have left
	goroutines int
}

// growth returns the growth of the heap in percent of the first sample: in an hour, by the best-fitting line, and
// up to the last sample.
func growth(samples []sample) (hourly, total float64) {
	n, first := float64(len(samples)), float64(samples[0].heap)
	var x, y, xx, xy float64
	for _, s := range samples {
		h, v := s.at.Hours(), float64(s.heap)
		x, y, xx, xy = x+h, y+v, xx+h*h, xy+h*v
	}
	slope := (n*xy - x*y) / (n*xx - x*x)
	return 100 * slope / first, 100 * (float64(samples[len(samples)-1].heap)/first - 1)
}

// soaked returns an error if the samples of a run show a leak. A crash removes the leaks of a server, so each half
// of the run is also checked alone.
func soaked(samples []sample) error {
	half := len(samples) / 2
	return cmp.Or(leaks(samples[:half]), leaks(samples[half:]), leaks(samples))
}

// leaks is soaked for one part of a run. The growth in an hour is only checked after hours.
func leaks(samples []sample) error {
	hourly, total := growth(samples)
	first, last := samples[0], samples[len(samples)-1]
	for _, s := range samples {
		if s.goroutines != first.goroutines {
			return fmt.Errorf("%d goroutines after %v, %d after %v", first.goroutines, first.at, s.goroutines, s.at)
		}
	}
	if first.heap <= 0 {
		return fmt.Errorf("got a heap of %d bytes: nothing was measured", first.heap)
	}
	if total > maxTotal || last.at-first.at > 2*time.Hour && hourly > maxHourly {
		return fmt.Errorf("the heap has grown from %d to %d KiB: by %.1f %%, and %.1f %% in an hour", first.heap>>10, last.heap>>10, total, hourly)
	}
	return nil
}

// A soak is one long match: half of it on one server, and then on servers that crash, one after another.
type soak struct {
	*stage
	t       *testing.T
	setup   setup
	dice    *rand.Rand
	tokens  []string
	players []*testClient
	counts  map[string]int
	before  int64 // bytes that others use
}

func newSoak(t *testing.T) *soak {
	k := &soak{t: t, dice: rand.New(rand.NewPCG(1, 1)), counts: map[string]int{}, before: heapInUse()}
	k.setup = setup{pipes: true, config: minimal.Config{Size: 50, Coins: 1}} // coins that are gone would hide a leak
	k.setup.options.KeepOpen = true
	k.setup.settings = func(s *lockstep.Settings) { s.Players, s.KeyframeEvery = 4, 600 }
	k.setup.tokens, k.tokens = players(4)
	k.setup.tokens += "spectator - press - " + press + "\n"
	k.stage = newStage(t, k.setup)
	k.seat()
	return k
}

// seat lets all players join.
func (k *soak) seat() {
	k.players = make([]*testClient, len(k.tokens))
	for i := range k.players {
		k.enter(i)
	}
}

// enter lets a player join, and waits until it plays.
func (k *soak) enter(i int) {
	k.players[i] = k.join(k.t, k.tokens[i], wander)
	<-k.players[i].Ready()
}

// round makes a random event happen to a player, and lets time pass. The first player stays as long as the server.
func (k *soak) round() {
	i := 1 + k.dice.IntN(len(k.players)-1)
	g := k.players[i]
	switch k.dice.IntN(5) {
	case 0:
		k.counts["cut"]++
		g.Cut()
	case 4:
		k.counts["cut"]++
		k.players[0].Cut()
	case 1:
		k.counts["gone"]++ // its seat is kept for a while, and may be taken over
		g.Close()
		time.Sleep(time.Duration(k.dice.IntN(60)) * time.Second)
		k.enter(i)
	case 2:
		k.counts["left"]++
		g.Do(func(c *player.Client) { c.Leave("") })
		g.Wait()
		k.enter(i)
	case 3:
		k.counts["watched"]++
		w := k.join(k.t, press, nil)
		<-w.Ready()
		time.Sleep(time.Duration(k.dice.IntN(30)) * time.Second)
		w.Close()
	}
	time.Sleep(soakRound)
}

// crash simulates a crash, and continues the match on another server.
func (k *soak) crash() {
	k.counts["crash"]++
	path := k.match.ReplayPath()
	b, err := os.ReadFile(path)
	if err != nil {
		k.t.Fatal(err)
	}
	for _, g := range k.players {
		g.Close()
	}
	k.stop()
	left := filepath.Join(filepath.Dir(path), "left")
	if err := os.MkdirAll(left, 0o777); err != nil {
		k.t.Fatal(err)
	}
	x := k.setup
	x.interrupted = filepath.Join(left, filepath.Base(path))
	if err := os.WriteFile(x.interrupted, b, 0o666); err != nil {
		k.t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		k.t.Fatal(err)
	}
	*k.stage = stage{stop: func() {}, log: &logWriter{}} // the test keeps it to the end
	k.stage = newStage(k.t, x)
	k.seat()
}

// sample waits for an idle moment, and measures.
func (k *soak) sample(began time.Time) sample {
	time.Sleep(soakSettle)
	at := time.Since(began)
	k.agree(k.t, k.players...)
	for _, g := range k.players {
		g.forget()
	}
	k.log.forget()
	synctest.Wait()
	s := sample{at, heapInUse() - k.before, bubbled(k.t)}
	k.t.Logf("%8v  %5d KiB  %d goroutines, tick %d, file of %d KiB", at.Round(time.Second), s.heap>>10, s.goroutines, k.match.Status().Tick, k.fileSize()>>10)
	return s
}

// heapInUse returns the bytes of the heap in use after a garbage collection.
func heapInUse() int64 {
	var m runtime.MemStats
	for range 3 {
		runtime.GC() // pools are empty after the second one
	}
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// waitForOldServers waits until the servers of earlier tests are collected, so that their memory does not count as
// freed by a soak.
func waitForOldServers() {
	least := heapInUse()
	for still := 0; still < 10; still++ {
		time.Sleep(10 * time.Millisecond)
		if now := heapInUse(); now < least-16<<10 {
			least, still = now, 0
		}
	}
}

// bubbled counts the goroutines of this test; another test's may still be ending.
func bubbled(t *testing.T) int {
	b := make([]byte, 1<<20)
	n := runtime.Stack(b, true)
	if n == len(b) {
		t.Fatalf("the stacks of %d goroutines are longer than %d bytes", runtime.NumGoroutine(), n)
	}
	return bytes.Count(b[:n], []byte(", synctest bubble "))
}

func (k *soak) fileSize() int64 {
	info, err := os.Stat(k.match.ReplayPath())
	if err != nil {
		k.t.Fatal(err)
	}
	return info.Size()
}

// run plays and takes n samples. In the second half a crash precedes each sample. leak is called before every one.
func (k *soak) run(length time.Duration, n int, leak func()) (samples []sample) {
	began := time.Now()
	until := func(d time.Duration) {
		for k.round(); time.Since(began) < d; k.round() {
		}
	}
	for i := range n {
		until(length * time.Duration(2*i+1) / time.Duration(2*n))
		if i >= n/2 {
			k.crash()
		}
		until(length*time.Duration(i+1)/time.Duration(n) - soakSettle)
		leak()
		samples = append(samples, k.sample(began))
	}
	return samples
}

// Scenario 66: a match of hours, in which players join and leave and the server crashes, uses no more memory and
// goroutines at its end than at its beginning.
func TestSoak(t *testing.T) {
	if testing.Short() {
		t.Skip("a long match")
	}
	waitForOldServers()
	synctest.Test(t, func(t *testing.T) {
		k := newSoak(t)
		samples := k.run(*soakFor, max(4, int(soakFor.Hours())), func() {})
		hourly, total := growth(samples)
		t.Logf("%.1f virtual hours, %v: the heap has grown by %.2f %% an hour, %.2f %% in all", samples[len(samples)-1].at.Hours(), k.counts, hourly, total)
		if err := soaked(samples); err != nil {
			t.Error(err)
		}
	})
}

// A soak finds a memory leak and a goroutine leak.
func TestSoakFindsLeaks(t *testing.T) {
	testenv.Long(t)
	waitForOldServers()
	synctest.Test(t, func(t *testing.T) {
		var leaked [][]byte
		end := make(chan struct{})
		defer close(end)
		samples := newSoak(t).run(time.Minute, 4, func() {
			leaked = append(leaked, make([]byte, 4<<20))
			go func() { <-end }()
		})
		if err := soaked(samples); err == nil || !strings.Contains(err.Error(), "goroutines") {
			t.Errorf("got %v of a goroutine that stays", err)
		}
		for i := range samples {
			samples[i].goroutines = 9
		}
		if err := soaked(samples); err == nil || !strings.Contains(err.Error(), "the heap has grown") {
			t.Errorf("got %v of %d leaks", err, len(leaked))
		}
	})
}

// Control: samples that show a leak are found.
func TestSoakControl(t *testing.T) {
	hours := func(heaps ...int64) (samples []sample) {
		for i, heap := range heaps {
			samples = append(samples, sample{time.Duration(i) * time.Hour, heap, 9})
		}
		return samples
	}
	for _, row := range []struct {
		name    string
		samples []sample
		fails   bool
	}{
		{"flat", hours(1000, 1000, 1000, 1000), false},
		{"shrinks", hours(1000, 900, 800, 700), false},
		{"noise", hours(1000, 1040, 960, 1030, 1000), false},
		{"a little each hour", hours(1000, 1020, 1040, 1060, 1080), false},
		{"too much in all", hours(1000, 1010, 1020, 1110), true},
		{"too much each hour", hours(1000, 1000, 1300, 1400, 1100), true},
		{"nothing", hours(0, 0, 0), true},
		{"too much each hour, of minutes", []sample{{0, 1000, 9}, {time.Minute, 1010, 9}}, false},
	} {
		if err := leaks(row.samples); (err != nil) != row.fails {
			t.Errorf("%s: got %v, want a failure: %t", row.name, err, row.fails)
		}
	}
	crashed := hours(1000, 1060, 1120, 1000, 1000, 1000) // what leaked went with the server
	if err := soaked(crashed); err == nil || leaks(crashed) != nil {
		t.Errorf("a leak before a crash: got %v, and %v of all", err, leaks(crashed))
	}
}
