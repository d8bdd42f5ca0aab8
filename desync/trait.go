package desync

import "fmt"

// A Trait is something that all clients that differ have in common.
type Trait struct {
	Name   string `json:"name"` // "build", "platform", "sources", "joined", "lost"
	Value  string `json:"value"`
	Differ int    `json:"differ"` // clients that differ
	Others int    `json:"others"` // clients that do not differ, but have the trait
	All    int    `json:"all"`    // clients that do not differ
}

// Telling reports whether there are clients that do not differ, and none of them has the trait.
func (t Trait) Telling() bool { return t.Others == 0 && t.All > 0 }

// String returns the trait as one line of text.
func (t Trait) String() string {
	have := "have"
	if t.Others == 1 {
		have = "has"
	}
	switch {
	case t.All == 0:
		return fmt.Sprintf("%s %s; that of no other player is known", t.Name, t.Value)
	case t.All == 1 && t.Telling():
		return fmt.Sprintf("%s %s, unlike the other player", t.Name, t.Value)
	case t.All == 1:
		return fmt.Sprintf("%s %s, the same as the other player", t.Name, t.Value)
	case t.Telling():
		return fmt.Sprintf("%s %s, which none of the %d others has", t.Name, t.Value, t.All)
	}
	return fmt.Sprintf("%s %s, as %s %d of the %d others", t.Name, t.Value, have, t.Others, t.All)
}

// traitsOf returns the traits that all differing clients share.
func traitsOf(all []Participant) []Trait {
	traits := []Trait{}
	for _, x := range []struct {
		name string
		of   func(*Participant) string
	}{
		{"build", func(p *Participant) string { return p.Build }},
		{"platform", func(p *Participant) string { return p.Platform }},
		{"sources", func(p *Participant) string { return p.Sources }},
		{"joined", func(p *Participant) string {
			if p.Joined == 0 {
				return ""
			}
			return fmt.Sprintf("at tick %d", p.Joined)
		}},
		{"lost its connection", func(p *Participant) string {
			if p.Lost == 0 {
				return "never"
			}
			return "before"
		}},
	} {
		t := Trait{Name: x.name}
		shared := true
		for i := range all {
			p := &all[i]
			if !p.Differs {
				continue
			}
			if t.Differ++; t.Differ == 1 {
				t.Value = x.of(p)
			}
			shared = shared && x.of(p) == t.Value
		}
		if t.Value == "" || !shared {
			continue
		}
		for i := range all {
			p := &all[i]
			if value := x.of(p); !p.Differs && value != "" {
				t.All++
				if value == t.Value {
					t.Others++
				}
			}
		}
		traits = append(traits, t)
	}
	return traits
}
