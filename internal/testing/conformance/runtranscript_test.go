package conformance

import (
	"fmt"
	"slices"
)

// runTranscript plays a transcript with our Host, our Client or both, and compares each
// byte that they send and its time. Session tokens and platforms are those of the
// transcript.
func runTranscript(text []byte) Result {
	t, err := parseTranscript(text)
	if err != nil {
		return Result{Verdict: err.Error()}
	}
	facts := map[string]any{"plays": t.Plays, "steps": len(t.Steps), "ends_ms": t.EndsMS}
	for _, side := range t.Plays {
		play := map[string]func(*Transcript) (*Transcript, error){"server": playServer, "client": playClient}[side]
		if play == nil {
			return Result{"unknown side " + side, facts}
		}
		got, err := play(t)
		if err != nil {
			return Result{err.Error(), facts}
		}
		if differs := compareSteps(side, got, t); differs != "" {
			return Result{differs, facts}
		}
	}
	return Result{messageOK, facts}
}

// playServer gives our Host the steps of a transcript's clients and operator.
func playServer(t *Transcript) (*Transcript, error) {
	got := *t
	got.Steps = nil
	s, err := newStage(&got)
	if err != nil {
		return nil, err
	}
	for i := range t.Steps {
		step := t.Steps[i]
		if step.From == "server" || step.From == "player" {
			continue
		}
		s.passOver(step.AtMS)
		if err := s.input(&step); err != nil {
			return nil, fmt.Errorf("step %d: %w", i, err)
		}
	}
	s.passOver(t.EndsMS)
	return &got, nil
}

// passOver is pass without deliveries: only the transcript answers the host's messages.
func (s *stage) passOver(until int64) {
	for s.pending = nil; s.pass(until); s.pending = nil {
	}
}

// playClient gives our Client the steps of a transcript's server and player.
func playClient(t *Transcript) (*Transcript, error) {
	got := *t
	got.Steps = nil
	cs := newClientSide(t.Client)
	dialed := 0
	cs.dial = func() int {
		if dialed++; dialed > len(t.Client.Conns) {
			return 1 << 20 // a connection that is not in the transcript
		}
		return t.Client.Conns[dialed-1]
	}
	cs.emit = func(s Step) {
		s.AtMS, s.From = cs.now, "client"
		got.Steps = append(got.Steps, s)
	}
	mine := slices.DeleteFunc(slices.Clone(t.Steps), func(s Step) bool { return s.From != "player" && !slices.Contains(t.Client.Conns, s.Conn) })
	for len(mine) > 0 {
		step := mine[0]
		n := 1
		var err error
		switch step.From {
		case "server", "network":
			for n < len(mine) && mine[n].From == step.From && mine[n].AtMS == step.AtMS {
				n++
			}
			cs.runUntil(step.AtMS - 1)
			cs.now = step.AtMS
			err = cs.receive(mine[:n])
		case "player":
			cs.runUntil(step.AtMS)
			cs.now = step.AtMS
			err = cs.play(&step)
		default:
			cs.runUntil(step.AtMS)
		}
		if err != nil {
			return nil, fmt.Errorf("at %d ms: %w", step.AtMS, err)
		}
		mine = mine[n:]
	}
	cs.runUntil(t.EndsMS)
	return &got, nil
}

// compareSteps returns the first difference between the steps of a side and the wanted
// ones, by connection.
func compareSteps(side string, got, want *Transcript) string {
	last := 0
	for _, s := range append(slices.Clone(got.Steps), want.Steps...) {
		last = max(last, s.Conn)
	}
	for conn := 1; conn <= min(last, len(want.Steps)+1); conn++ {
		if side == "client" && !slices.Contains(want.Client.Conns, conn) {
			continue
		}
		g, w := stepsOf(got, side, conn), stepsOf(want, side, conn)
		for i := range max(len(g), len(w)) {
			if i >= len(g) || i >= len(w) || g[i] != w[i] {
				return fmt.Sprintf("connection %d: %s's step %d: got %s, want %s", conn, side, i, at(g, i), at(w, i))
			}
		}
	}
	if side == "client" && last == 1<<20 {
		return "the client opens more connections than it should"
	}
	return ""
}

// stepsOf returns the steps of one side on a connection.
func stepsOf(t *Transcript, side string, conn int) []string {
	var all []string
	for _, s := range t.Steps {
		if s.From == side && s.Conn == conn {
			all = append(all, fmt.Sprintf("at %d ms: %s%s", s.AtMS, s.Do, s.Hex))
		}
	}
	return all
}

func at(steps []string, i int) string {
	if i < len(steps) {
		return steps[i]
	}
	return "nothing"
}
