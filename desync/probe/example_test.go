package probe_test

import (
	"bytes"
	"fmt"
	"io"

	"github.com/seed-49bee653/samestep/desync/probe"
)

// What a woven function looks like, and what is recorded of it.
func Example() {
	type Unit struct {
		ID     uint32
		Health int32
	}
	hit := func(u *Unit, damage int32) {
		if probe.On {
			defer probe.Leave(probe.Enter(0, u, damage))
		}
		if probe.On {
			probe.B(u.Health)
		}
		u.Health -= damage
		if probe.On {
			probe.R(1, u.Health, u)
		}
	}
	var out bytes.Buffer
	probe.Start(&out, nil, nil)
	hit(&Unit{ID: 7, Health: 30}, 4)
	var n probe.Count
	n, _ = probe.Stop()
	fmt.Println(n.Events, "events")

	for r := probe.NewReader(&out); ; {
		var e probe.Event
		e, err := r.Next()
		if err == io.EOF {
			break
		}
		fmt.Printf("probe %d of %s: %s", e.Site, e.Entity, e.Value)
		if e.Replaces {
			fmt.Printf(", before %s", e.Old)
		}
		fmt.Println()
	}
	// Output:
	// 2 events
	// probe 0 of Unit 7: &Unit 7, 4
	// probe 1 of Unit 7: 26, before 30
}

func ExampleReader() {
	_, err := probe.NewReader(bytes.NewReader([]byte{0, 1})).Next()
	fmt.Println(err)
	// Output: probe: incomplete recording: EOF
}

// A woven package tells its variables, and the program asks for their values.
func ExampleVariables() {
	costs := map[string]int32{"iron": 30, "salt": 12}
	probe.Data("example.com/caravan/goods.costs", &costs)
	var all []probe.Variable = probe.Variables()
	for _, v := range all {
		for _, p := range v.Parts {
			var part probe.Part = p
			fmt.Println(v.Name+part.Path, part.Value)
		}
	}
	// Output:
	// example.com/caravan/goods.costs 2 entries
	// example.com/caravan/goods.costs["iron"] 30
	// example.com/caravan/goods.costs["salt"] 12
}

// A woven loop over a map.
func ExampleOrdered() {
	probe.InOrder = true
	defer func() { probe.InOrder = false }()
	for name, cost := range probe.Ordered(map[string]int32{"salt": 12, "iron": 30}) {
		fmt.Println(name, cost)
	}
	// Output:
	// iron 30
	// salt 12
}
