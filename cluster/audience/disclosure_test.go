package audience

import (
	"errors"
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/disclosure"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// An Audience has of a log what its event allows, and nothing before that.
func TestDisclosure(t *testing.T) {
	note := func(p disclosure.Policy) [][]byte { return [][]byte{p.Event()} }
	player := record.Note(1, record.EventDisclosure, disclosure.Policy{}.String())
	for name, c := range map[string]struct {
		notes [][]byte
		at    int // records before them
		err   error
		tick  lockstep.Tick // that spectators see at last
		known bool          // they have the header, with the seed, and a state
	}{
		"control":                   {note(disclosure.Policy{}), 2, nil, 30, true},
		"a delay":                   {note(disclosure.Policy{Delay: 20}), 2, nil, 10, true},
		"a delay beyond the match":  {note(disclosure.Policy{Delay: 50}), 2, nil, 0, true},
		"views":                     {note(disclosure.Policy{Views: true}), 2, disclosure.ErrViews, 0, false},
		"a delay, said late":        {note(disclosure.Policy{Delay: 20}), 20, nil, 10, true},
		"a delay, said too late":    {note(disclosure.Policy{Delay: 20}), 130, nil, 0, false},
		"views, said late":          {note(disclosure.Policy{Views: true}), 20, disclosure.ErrViews, 0, false},
		"no event":                  {nil, 2, nil, 0, false},
		"a note of a player":        {[][]byte{player}, 2, nil, 0, false},
		"other words":               {[][]byte{record.Event(record.System, record.EventDisclosure, "players=all delay=0 map=no")}, 2, disclosure.ErrMalformed, 0, false},
		"the same twice":            {slices.Concat(note(disclosure.Policy{}), note(disclosure.Policy{})), 2, nil, 30, true},
		"first all, and then views": {slices.Concat(note(disclosure.Policy{}), note(disclosure.Policy{Views: true})), 2, disclosure.ErrMalformed, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			var records testgame.Records
			_, match := testgame.NewLamps(&records, coordinator.Options{})
			testgame.Ticks(match, 30)
			for range 100 {
				records = append(records, record.Note(0, record.TopicChat, "hello"))
			}
			a, err := New(Options{})
			if err != nil {
				t.Fatal(err)
			}
			l := NewLog(a)
			for _, r := range slices.Insert(records, c.at, c.notes...) {
				if err = l.Append(0, r); err != nil {
					break
				}
			}
			a.Live(0)
			if !errors.Is(err, c.err) || (l.Unknown() != nil) != (c.err == nil && !c.known && c.at == 2) {
				t.Errorf("got %v, %v, want %v", err, l.Unknown(), c.err)
			}
			if a.Now() != c.tick {
				t.Errorf("spectators see tick %d, want %d", a.Now(), c.tick)
			}
			if got, want := a.header != nil, c.known; got != want || got != (a.keyframe() != nil) {
				t.Errorf("spectators have the header: %t, want %t", got, want)
			}
		})
	}
}
