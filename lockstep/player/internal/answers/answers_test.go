package answers_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/answers"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

const each = 50 * lockstep.Millisecond

// A past has some ticks of a match, with a command in each.
func past(t *testing.T, ticks lockstep.Tick, coins uint16) *answers.Material {
	g, header := testgame.NewBankMatch(t, 2)
	sim, err := g.NewSimulation(header)
	if err != nil {
		t.Fatal(err)
	}
	m := &answers.Material{Last: ticks, State: sim.AppendState(nil), Hash: sim.Hash()}
	kind, payload := testgame.Encode(t, g, &testgame.Earn{Coins: coins})
	for tick := lockstep.Tick(1); tick <= ticks; tick++ {
		cmd := lockstep.Command{Tick: tick, Player: 0, Sequence: lockstep.Sequence(tick), Kind: kind, Payload: payload}
		if err := sim.Step(&lockstep.Frame{Tick: tick, Commands: []lockstep.Command{cmd}}); err != nil {
			t.Fatal(err)
		}
		m.Commands = append(m.Commands, cmd)
		m.First = append(m.First, sim.Hash())
	}
	m.Sim = sim
	return m
}

// sums takes the checksums that wait.
func sums(a *answers.Answers) (list []protocol.Message) {
	var m protocol.Message
	for a.NextSum(&m) {
		list = append(list, m)
	}
	return list
}

// Each run computes the ticks of its first material with their commands, some in each call, while further requests have no effect.
func TestRuns(t *testing.T) {
	m := past(t, 12, 3)
	first := slices.Clone(m.First)
	var a answers.Answers
	var now lockstep.Time
	for run := range 3 {
		if a.Busy() || a.Keeps(0, 12) != (run > 0) {
			t.Fatalf("run %d: busy %t, keeps %t", run, a.Busy(), a.Keeps(0, 12))
		}
		a.Ask(now, 0, 12, false, m)
		m = past(t, 12, 4) // what the server has sent since
		var got []protocol.Message
		calls := 0
		for ; len(got) < 12 && calls < 20; calls++ {
			if !a.Busy() {
				t.Fatalf("run %d: another request could begin", run)
			}
			now += 4 * each
			if _, news := a.Advance(now, each, true, first[11], true); news {
				t.Errorf("run %d: an outcome, and nothing differs", run)
			}
			if more := sums(&a); len(more) > 4 {
				t.Errorf("run %d: got %d ticks in one call", run, len(more))
			} else {
				got = append(got, more...)
			}
		}
		for i := range got {
			if s := &got[i]; int(s.Tick) != i+1 || s.Hash != first[i] || s.First != first[i] {
				t.Errorf("run %d: got tick %d, %x, first %x, want tick %d, %x", run, s.Tick, s.Hash, s.First, i+1, first[i])
			}
		}
		if calls != 3 || len(got) != 12 {
			t.Errorf("run %d: got %d ticks in %d calls", run, len(got), calls)
		}
	}
	if a.Due() <= now || a.Memory() == 0 {
		t.Error("it computes without a request")
	}
	if a.Reset(); a.Memory() != 0 || a.Keeps(0, 12) {
		t.Error("something outlives the connection")
	}
}

// The outcome of the runs is told once, and nothing while the match's checksum is unknown or the player has no time.
func TestOutcome(t *testing.T) {
	m := past(t, 4, 3)
	right := m.First[3]
	m.First[3]++ // altered memory
	var a answers.Answers
	var told []string
	for now := range lockstep.Time(6) {
		if !a.Busy() {
			a.Ask(now*lockstep.Second, 0, 4, false, m)
		}
		o, news := a.Advance(now*lockstep.Second+each*4, each, now > 0, right, now > 1)
		if news {
			told = append(told, fmt.Sprint(now, o.From, o.To, o.Outcome))
		}
		sums(&a)
	}
	if want := []string{fmt.Sprint(2, 0, 4, protocol.OutcomeOf(right, right+1, right))}; !slices.Equal(told, want) {
		t.Errorf("got %q, want %q", told, want)
	}
}

// What cannot be computed is answered, and later requests need new material.
func TestCannot(t *testing.T) {
	var a answers.Answers
	var msg protocol.Message
	a.Ask(0, 0, 4, false, nil)
	if got := sums(&a); len(got) != 1 || got[0].Tick != 0 {
		t.Errorf("got %v, want one answer without a tick", got)
	}
	m := past(t, 4, 3)
	m.Hash++
	if a.Ask(0, 0, 4, true, m); a.Keeps(0, 4) || !a.NextState(&msg) || msg.Tick != 4 || msg.Total != 0 {
		t.Errorf("altered: got %+v", msg)
	}
	a.Ask(0, 0, 4, true, past(t, 4, 3))
	a.Advance(each*4, each, true, 0, false)
	if !a.NextState(&msg) || msg.Tick != 4 || msg.Total == 0 || len(sums(&a)) > 0 {
		t.Errorf("a state: got %+v", msg)
	}
}

// At most some states wait, and their chunks come in order.
func TestStates(t *testing.T) {
	var a answers.Answers
	var m protocol.Message
	big := bytes.Repeat([]byte{1, 2, 3}, protocol.MaxChunk/2)
	for tick := range lockstep.Tick(answers.MaxStates + 2) {
		a.State(tick, big)
	}
	var got []string
	for a.NextState(&m) {
		got = append(got, fmt.Sprint(m.Tick, m.Offset, int(m.Offset)+len(m.Bytes) == len(big)))
	}
	if len(got) != 2*answers.MaxStates || got[0] != "0 0 false" || got[1] != fmt.Sprint(0, protocol.MaxChunk, true) {
		t.Errorf("got %q", got)
	}
}
