package host_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/disclosure"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// Who may see what of a match stays as its log says, whatever the options of the server that resumes it are. A log that says
// nothing has the policy of the options, and one that says something else is refused.
func TestRecoveryKeepsDisclosure(t *testing.T) {
	p := newPartyOf(t, showing(seeAccount), nil, everyTick)
	log := testgame.Records{p.early[0], p.early[1]}
	p.record = func(b []byte) { _ = log.Append(b) }
	p.join("a", "p0")
	p.pass(lockstep.Second)
	views, late := disclosure.Policy{Views: true}, disclosure.Policy{Delay: 20}
	for name, c := range map[string]struct {
		note    []byte
		options disclosure.Policy
		want    disclosure.Policy
		err     error
	}{
		"views stay":        {views.Event(), disclosure.Policy{}, views, nil},
		"a delay stays":     {late.Event(), disclosure.Policy{}, late, nil},
		"nothing is hidden": {disclosure.Policy{}.Event(), views, disclosure.Policy{}, nil},
		"no note":           {nil, late, late, nil},
		"other words":       {record.Event(record.System, record.EventDisclosure, "players=none"), views, disclosure.Policy{}, disclosure.ErrMalformed},
	} {
		r := host.NewRecovery(p.game)
		all := slices.Clone(log)
		if c.note != nil {
			all = slices.Insert(all, 2, c.note)
		}
		for _, b := range all {
			if err := r.Append(b); err != nil {
				t.Fatal(err)
			}
		}
		o := host.Options{Random: func([]byte) {}, SpectatorDelay: c.options.Delay, Views: host.ViewPolicy{Only: c.options.Views}}
		h, err := r.Host(p.now, o)
		if !errors.Is(err, c.err) {
			t.Errorf("%s: got %v, want %v", name, err, c.err)
		}
		if err == nil && h.Disclosure() != c.want {
			t.Errorf("%s: got %v, want %v", name, h.Disclosure(), c.want)
		}
		if _, err := r.Disclosure(); errors.Is(err, disclosure.ErrUnknown) != (c.note == nil) {
			t.Errorf("%s: the log: got %v", name, err)
		}
	}
}
