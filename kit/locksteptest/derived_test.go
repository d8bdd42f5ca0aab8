package locksteptest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/kit/locksteptest"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A pond has derived fields of many types.
type (
	pond struct {
		Drawn uint64
		Fish  []fish
		links *link            `state:"derived"`
		byAge map[uint32][]int `state:"derived"`
		names map[string]*fish `state:"derived"`
		tools [2]any           `state:"derived"`
		count func() int       `state:"derived"`
		room  []float64        `state:"derived"`
	}
	fish struct {
		Age   uint32
		depth int `state:"derived"`
	}
	link struct {
		next *link // to itself
		ages []uint32
	}
)

func derivePond(p *pond, _ *struct{}) {
	p.links, p.byAge, p.names, p.tools = &link{}, map[uint32][]int{}, map[string]*fish{}, [2]any{uint8(1), "rod"}
	p.links.next, p.count, p.room = p.links, func() int { return len(p.Fish) }, p.room[:0]
	for i := range p.Fish {
		f := &p.Fish[i]
		f.depth = int(f.Age) * 2
		p.byAge[f.Age] = append(p.byAge[f.Age], i)
		p.names[strings.Repeat("f", i)] = f
		p.links.ages = append(p.links.ages, f.Age)
	}
}

// readPond returns a number that depends on each derived field.
func readPond(p *pond) uint64 {
	n := uint64(len(p.byAge) + 10*len(p.byAge[2]) + 100*len(p.room))
	if p.names["f"] != nil {
		n += 1000
	}
	if p.links != nil {
		n += 2000 * uint64(p.links.ages[0])
	}
	for i := range p.Fish {
		n += 100000 * uint64(p.Fish[i].depth)
	}
	for _, c := range fmt.Sprintf("%T %v", p.tools[0], p.tools) {
		n = 31*n + uint64(c)
	}
	return n
}

// The failure of a cold twin names the derived field that is stale, whatever its type, and not its consequence in the state. It
// does so only if the field decides, and not if it differs beside what does.
func TestStaleField(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*pond)
		want  string
	}{
		"nothing":         {func(*pond) {}, ""},
		"a nil slice":     {func(p *pond) { p.room = nil }, ""},
		"a number":        {func(p *pond) { p.Fish[1].depth++ }, "from the derived field Fish[1].depth: got 4, want 5"},
		"a map's list":    {func(p *pond) { p.byAge[2] = nil }, "from the derived field byAge[2]: got 1 elements, want 0"},
		"a map's key":     {func(p *pond) { p.names["x"] = p.names["f"]; delete(p.names, "f") }, "from the derived field names[f]: got "},
		"a map":           {func(p *pond) { delete(p.byAge, 2) }, "from the derived field byAge: got 3 entries, want 2"},
		"a pointer":       {func(p *pond) { p.links = nil }, "from the derived field links: got "},
		"behind a cycle":  {func(p *pond) { p.links.ages[0] = 7 }, "from the derived field links.ages[0]: got 1, want 7"},
		"an interface":    {func(p *pond) { p.tools[1] = "net" }, "from the derived field tools[1]: got rod, want net"},
		"another type":    {func(p *pond) { p.tools[0] = int8(1) }, "from the derived field tools[0]: got 1, want 1"},
		"the whole cache": {func(p *pond) { p.room = append(p.room, 1) }, "from the derived field room: got 0 elements, want 1"},
	} {
		for _, innocent := range []bool{false, true} {
			drawn := uint64(0)
			g := lockstep.MustGame(lockstep.Rules[pond, struct{}]{
				Name: "pond", Build: "1", Derive: derivePond,
				New: func(p *pond, s *lockstep.Settings, _ *struct{}) error {
					drawn, p.Fish = 0, []fish{{Age: 1}, {Age: 2}, {Age: 3}}
					return nil
				},
				Step: func(p *pond, setup *struct{}, turn *lockstep.Turn) {
					if !innocent {
						p.Drawn += readPond(p)
					}
					derivePond(p, setup)
					c.spoil(p)
					if drawn = max(drawn, uint64(turn.Tick)); innocent && drawn == 20 && turn.Tick == 10 {
						p.Drawn++ // the match was played before, so this is another machine
					}
				},
			})
			want := c.want
			if innocent {
				want = "data outside of the state decides: a restored copy computes Drawn: got "
			}
			err := locksteptest.RunPhase(g, locksteptest.Options{Ticks: 20, Players: 1, AllowThin: "no commands"}, "cold twin")
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s, innocent %t: got %v, want %q", name, innocent, err, want)
			}
		}
	}
}
