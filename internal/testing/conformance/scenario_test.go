package conformance

import (
	"fmt"
	"strings"
)

// A scenario makes a transcript. run plays it with a Host and guests, one of them a Client
// if client is set. serve plays it with a Client and a scripted server.
type scenario struct {
	id, rules, about string
	setup            func(*Transcript)
	client           bool // a Client plays as ada
	run              func(*play)
	serve            func(*fake)
}

// The tokens of the suite.
const (
	ada      = "token-of-ada-0000"
	bob      = "token-of-bob-0000"
	eve      = "token-of-eve-0000"
	guestAnn = "guest:Ann%20Lee:0123456789abcdef"
)

// transcript plays the scenario.
func (s *scenario) transcript() (*Transcript, error) {
	seats := [2]uint8{0, 1}
	t := &Transcript{
		Format: 1, About: s.about, Plays: []string{"server"},
		Match: Setting{Seed: 1, Players: 2, TickMicros: 100_000, CheckEvery: 5, Start: 100},
		Tokens: []Token{
			{ada, "player", &seats[0], "Ada"}, {bob, "player", &seats[1], "Bob"}, {eve, "spectator", nil, "Eve"},
		},
	}
	if s.client || s.serve != nil {
		t.Client = &Player{Token: ada}
	}
	if s.setup != nil {
		s.setup(t)
	}
	if s.serve != nil {
		t.Plays = []string{"client"}
		f := newFake(t)
		s.serve(f)
		t.EndsMS = f.now
		return t, f.err
	}
	st, err := newStage(t)
	if err != nil {
		return nil, err
	}
	p := &play{stage: st, guests: map[int]*guest{}}
	if s.client {
		t.Plays = []string{"server", "client"}
		p.client = newClientSide(t.Client)
	}
	s.run(p)
	t.EndsMS = p.now
	return t, p.err
}

// transcriptCases returns the cases of scenarios.
func transcriptCases(scenarios []scenario) []Built {
	var all []Built
	for i := range scenarios {
		s := &scenarios[i]
		t, err := s.transcript()
		if err != nil {
			panic(fmt.Sprintf("conformance: scenario %s: %v", s.id, err)) // the scenarios are ours
		}
		all = append(all, Built{
			Case{ID: "session-" + s.id, Kind: "transcript", File: "transcript/session-" + s.id + ".json", Rules: strings.Fields(s.rules), Verdict: messageOK, About: s.about},
			t.encode(),
		})
	}
	return all
}
