package record

import (
	"fmt"

	"github.com/seed-49bee653/samestep/state"
)

// A HeaderDifference is one thing that two headers say differently.
type HeaderDifference struct {
	Field string `json:"field"` // "build", "setting seed", "configuration Size", "state schema, field Units[].Pos", …
	A     string `json:"a"`
	B     string `json:"b"`
}

// String returns the difference as one line: "build: 1 → 2".
func (d HeaderDifference) String() string { return fmt.Sprintf("%s: %s → %s", d.Field, d.A, d.B) }

// maxConfigDifferences is how many fields of the configuration DiffHeaders
// lists.
const maxConfigDifferences = 16

// DiffHeaders returns everything that two headers say differently, in the order
// in which they say it. Headers of one match differ in nothing but perhaps the
// platform, which is the recorder's.
func DiffHeaders(a, b *Header) []HeaderDifference {
	var all []HeaderDifference
	add := func(field string, x, y any) {
		if x != y {
			all = append(all, HeaderDifference{field, fmt.Sprint(x), fmt.Sprint(y)})
		}
	}
	add("protocol", a.Protocol, b.Protocol)
	add("engine", a.Engine, b.Engine)
	add("game", a.Game, b.Game)
	add("build", a.Build, b.Build)
	add("match", a.Match, b.Match)
	add("platform", a.Platform, b.Platform)
	s, t := &a.Settings, &b.Settings
	add("setting seed", s.Seed, t.Seed)
	add("setting players", s.Players, t.Players)
	add("setting tick rate", s.TickRate, t.TickRate)
	add("setting check every", s.CheckEvery, t.CheckEvery)
	add("setting keyframe every", s.KeyframeEvery, t.KeyframeEvery)
	all = append(all, diffConfigs(a, b)...)
	all = append(all, diffDescriptions("state schema", a.StateSchema, b.StateSchema)...)
	add("number of command kinds", len(a.Commands), len(b.Commands))
	for i := range min(len(a.Commands), len(b.Commands)) {
		x, y := &a.Commands[i], &b.Commands[i]
		if x.Kind != y.Kind || x.Name != y.Name {
			add("command", fmt.Sprintf("%d %q", x.Kind, x.Name), fmt.Sprintf("%d %q", y.Kind, y.Name))
			break
		}
		all = append(all, diffDescriptions("schema of command "+x.Name, x.Schema, y.Schema)...)
	}
	return all
}

// diffConfigs compares two configurations field by field, if they have the same
// fields.
func diffConfigs(a, b *Header) []HeaderDifference {
	if d := diffDescriptions("configuration schema", a.ConfigSchema, b.ConfigSchema); d != nil {
		return d
	}
	if string(a.Config) == string(b.Config) {
		return nil
	}
	found, err := func() (state.Differences, error) {
		s, err := state.ParseSchema(a.ConfigSchema)
		if err != nil {
			return state.Differences{}, err
		}
		return s.Diff(a.Config, b.Config, maxConfigDifferences)
	}()
	if err != nil { // no game wrote it
		return []HeaderDifference{{"configuration", sumText(a.Config), sumText(b.Config)}}
	}
	var all []HeaderDifference
	for _, d := range found.List {
		all = append(all, HeaderDifference{"configuration " + d.Path, d.A, d.B})
	}
	return all
}

// diffDescriptions names the first field in which two schemas differ.
func diffDescriptions(what string, a, b []byte) []HeaderDifference {
	if string(a) == string(b) {
		return nil
	}
	x, errA := state.ParseSchema(a)
	y, errB := state.ParseSchema(b)
	if errA == nil && errB == nil {
		if path, g, w, ok := firstDifference(x.Root(), y.Root()); ok {
			return []HeaderDifference{{what + ", field " + path, g, w}}
		}
	}
	return []HeaderDifference{{what, sumText(a), sumText(b)}}
}
