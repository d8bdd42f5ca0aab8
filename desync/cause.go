package desync

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A CauseKind is a kind of fault.
type CauseKind string

// The kinds of faults that the trials cover, in the order in which they are named if several fit.
const (
	LostCommand    CauseKind = "lost command"
	DoubledCommand CauseKind = "doubled command"
	SwappedOrder   CauseKind = "wrong order"
	MovedCommand   CauseKind = "moved command"
	OtherPlayer    CauseKind = "other player"
	LostTick       CauseKind = "lost tick"
	MovedTick      CauseKind = "moved tick"
	OtherDraws     CauseKind = "other draws"
	PermutedList   CauseKind = "permuted list"
	AlteredPayload CauseKind = "altered payload"
	OtherConfig    CauseKind = "other configuration"
	LostElement    CauseKind = "lost element"
	AlteredField   CauseKind = "altered field"
)

// A Cause is a single fault that leads from the last good state to exactly the wrong one, bit by bit. The states are
// consistent with it, and with the others in the list. None is proven: a rule that treats the same command, field or
// generator otherwise leads to the same states.
type Cause struct {
	Kind    CauseKind `json:"kind"`
	Text    string    `json:"text"`
	When    Span      `json:"when"`              // where the states diverge if this is the cause
	Command *Command  `json:"command,omitempty"` // nil if the fault is not one of a command
	Path    string    `json:"path,omitempty"`    // of the field, the list or the generator; of the payload or the configuration
	Right   string    `json:"right,omitempty"`   // the value there on the right side, and on the wrong side
	Wrong   string    `json:"wrong,omitempty"`
	Flipped bool      `json:"single_flipped_bit,omitempty"` // Right and Wrong differ in a single bit, and are no bools
	Others  []*Cause  `json:"others,omitempty"`             // the other faults that lead to the same state, up to a limit
	More    int       `json:"more,omitempty"`               // number of those beyond the limit
	fault   variation
	rank    int           // order among the causes that fit
	ends    lockstep.Tick // the tick of the wrong state that it leads to
}

// The ranks of causes: if several fit, the one with the lowest is named first. Within a family, simple faults come first.
const (
	rankLost = iota
	rankDoubled
	rankSwapped
	rankMoved
	rankPlayer = rankMoved + 2*record.MaxInputDelay + iota
	rankTick
	rankMovedTick
	rankDraws
	rankOrder
	rankPayload
	rankConfig
	rankElement
	rankAltered
	rankEarly // no frame is there before its time: what fits is chance, if another fault does
)

// String returns the cause as text that does not claim more than was found out.
func (c *Cause) String() string {
	return fmt.Sprintf("consistent with a fault of kind %q: %s", c.Kind, c.Text)
}

// A Tried says how many variations of one family were tried.
type Tried struct {
	Family string `json:"family"`
	Count  int    `json:"count"`
	All    bool   `json:"all"` // false: the time was over before all of them were tried
}

// String returns the family as text.
func (t Tried) String() string {
	kind, of, _ := strings.Cut(t.Family, " of ")
	text := words.Count(t.Count, strings.TrimSuffix(kind, "s"))
	if of != "" {
		text += " of " + of
	}
	if !t.All {
		text += ", but not all"
	}
	return text
}

// A search looks for causes: faults that lead from the state of tick good to the wrong state of tick bad, and to all else that is
// known of the wrong side. A lost command and a late one lead to the same state at first.
type search struct {
	*tester
	begin     lockstep.Tick // the first tick of the wrong side whose state is kept
	since     lockstep.Tick // the last check at which the sides agreed
	good, bad lockstep.Tick
	wrong     []byte
	states    map[lockstep.Tick][]byte // the wrong side's, from tick bad on; only looked up
	last      lockstep.Tick            // of them
	exact     lockstep.Tick            // the first tick at which the machine differed, if it says so; else 0
	hashes    map[lockstep.Tick]string // of the states that the machine has computed again, if they end in the same one; only looked up
	describe  func(*lockstep.Command) Command
	found     []*Cause
	tried     []Tried
	count     int      // of the present family
	parted    *parting // of a control that did not end in the right state
}

// A family is faults of one sort.
type family struct {
	name string
	try  func() error // tries all of them
}

// look tries all families, after a control with nothing changed and before another one. No family may spend more than half of the time that is left, and
// once a cause fits, no more than a small part: what it adds is another cause that cannot be told apart from the first.
func (s *search) look(families []family) error {
	if err := s.control(&variation{from: s.good}); err != nil {
		return err
	}
	for i, f := range families {
		s.count = 0
		part := s.clock.left()
		if i < len(families)-1 {
			part /= 2
		}
		if len(s.found) > 0 {
			part = min(part, s.clock.whole/partOfTime)
		}
		err := s.within(part, f.try)
		if err != nil && err != errBudget {
			return err
		}
		s.tried = append(s.tried, Tried{f.name, s.count, err == nil})
	}
	if len(s.found) == 0 {
		return nil
	}
	s.clock.end += s.clock.whole / partOfTime
	return s.control(&variation{from: s.good}) // the trials may have changed what is not in the state
}

// partOfTime is the part of the time that a family has after a cause was found.
const partOfTime = 10

// within lets f spend a part of the time that is left.
func (s *search) within(part time.Duration, f func() error) error {
	end := s.clock.end
	s.clock.end = min(end, s.clock.spent()+part)
	err := f()
	s.clock.end = end
	return err
}

// try plays a variation, and keeps the cause that it stands for if it fits, and neither its control nor one that is near does.
func (s *search) try(v variation, cause func() *Cause) error {
	s.count++
	ok, err := s.fits(&v)
	if err != nil || !ok {
		return err
	}
	if err := s.control(&v); err != nil {
		return err
	}
	if v.near != nil {
		for _, o := range v.near() {
			if ok, err := s.fits(&o); err != nil || ok {
				return err
			}
		}
	}
	c := cause()
	c.fault = v
	if c.When == (Span{}) {
		first, err := s.first(&v)
		if err != nil {
			return err
		}
		c.When = Span{first, first}
	}
	s.found = append(s.found, c)
	return nil
}

// first returns the first tick at which a variation's state differs from the right one.
func (s *search) first(v *variation) (lockstep.Tick, error) {
	first := s.bad
	_, err := s.play(v, s.bad, func(t lockstep.Tick, b []byte) bool {
		first = t
		return bytes.Equal(b, s.again.state(t))
	})
	return first, err
}

const maxOthers = 32

// cause returns the cause that is named first, with the others, or nil if none fits.
func (s *search) cause() *Cause {
	s.dropTimeless()
	slices.SortStableFunc(s.found, func(a, b *Cause) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.When.From, b.When.From))
	})
	if len(s.found) == 0 {
		return nil
	}
	first := *s.found[0]
	for _, c := range s.found[1:] {
		if len(first.Others) == maxOthers {
			first.More++
			continue
		}
		first.Others = append(first.Others, c)
	}
	return &first
}

// dropTimeless drops the moved commands that fit both late and early: then no wrong time is behind what differs. If the command may
// also have been lost, the evidence does not tell these faults apart, and all of them stay.
func (s *search) dropTimeless() {
	all := slices.Clone(s.found)
	s.found = slices.DeleteFunc(s.found, func(c *Cause) bool {
		has := func(fault func(*Cause) bool) bool {
			return slices.ContainsFunc(all, func(o *Cause) bool { return fault(o) && o.Command.same(c.Command) })
		}
		return c.Kind == MovedCommand &&
			has(func(o *Cause) bool { return o.Kind == MovedCommand && (o.rank < rankEarly) != (c.rank < rankEarly) }) &&
			!has(func(o *Cause) bool { return o.Kind == LostCommand })
	})
}

// fits plays a variation and reports whether it leads to all that is known of the wrong side.
func (s *search) fits(v *variation) (bool, error) {
	begin := v.from // the first tick that it can change
	if v.state == nil {
		begin++
	}
	if begin > s.bad || s.exact > 0 && begin > s.exact || v.from == s.bad && !bytes.Equal(v.state, s.wrong) {
		return false, nil
	}
	last := v.last()
	b, err := s.play(v, s.last, func(t lockstep.Tick, b []byte) bool { return s.allows(v, last, t, b) })
	if err != nil || b == nil || len(s.hashes) == 0 {
		return b != nil, err
	}
	b, err = s.play(v, s.last, s.computedAgain)
	return b != nil, err
}

// allows reports whether a variation, whose frames differ up to tick last, may have the state b after tick t. Of ticks of which
// nothing is known it allows all but the right state, from which nothing wrong follows.
func (s *search) allows(v *variation, last, t lockstep.Tick, b []byte) bool {
	right := bytes.Equal(b, s.again.state(t))
	switch known := s.states[t]; {
	case t == s.good || t == s.since:
		return right
	case t < s.good:
		return right || s.exact == 0 || v.config != nil
	case known != nil:
		return bytes.Equal(b, known)
	case t == s.exact:
		return !right
	}
	return !right || t < last || v.config != nil
}

// computedAgain reports whether b is the state that the machine computed again after tick t, if it did.
func (s *search) computedAgain(t lockstep.Tick, b []byte) bool {
	want, known := s.hashes[t]
	if !known {
		return true
	}
	var sum checksum.Sum
	err := checksum.OfBytes(&sum, s.again.game.StateSchema(), b)
	return err == nil && checksum.FormatHash(sum.Hash) == want
}

// errControl ends trials whose control does not end in the right state.
var errControl = errors.New("desync: the control run differs from the match")

// control plays the ticks of a variation with nothing changed, but in the same way: from the state of the same tick, and in a
// new simulation if the configuration changes. It returns errControl if a state differs from the right one: then what the
// variation leads to says nothing, and neither does any other.
func (s *search) control(v *variation) error {
	same := variation{from: v.from}
	if v.config != nil {
		same.config = s.again.header.Config
	}
	b, err := s.play(&same, s.last, func(t lockstep.Tick, b []byte) bool {
		if bytes.Equal(b, s.again.state(t)) {
			return true
		}
		s.parted = &parting{tick: t, way: WayAgain, other: slices.Clone(b)}
		return false
	})
	switch {
	case err != nil:
		return err
	case b == nil && s.parted == nil: // the rules failed
		s.parted = &parting{tick: v.from + 1, way: WayAgain}
	}
	if s.parted != nil {
		return errControl
	}
	return nil
}
