package faultinjection

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

// explain runs the tool on the evidence of the first report, as a server would have
// written it: the replay up to the report, and both sides' states of the last right
// check and of the wrong one.
func (d *drill) explain(f *fault, m *match, v *variant, want clue) error {
	e, err := m.explained(d.tools, m.evidence())
	if err != nil {
		d.result.row(f, "explain", clue{What: err.Error()}, want, false)
		return nil
	}
	got := explanation(e)
	since := e.First.From <= want.Tick && want.Tick <= e.First.To
	named := v.named(m, e)
	if v.kind != "" && v.kind != desync.OtherDraws {
		figure := &d.result.CommandFaults
		figure.Faults++
		count(&figure.Tick, since)
		count(&figure.Cause, named)
	}
	d.result.row(f, "explain", got, want, got.Who == want.Who && since && named)
	return nil
}

// named reports whether an explanation names the damaged field, or what happened to the command.
func (v *variant) named(m *match, e *desync.Explanation) bool {
	switch {
	case v.kind != "":
		return e.Cause != nil && slices.ContainsFunc(append([]*desync.Cause{e.Cause}, e.Cause.Others...), v.is)
	case v.path != "":
		planted := m.byID(v.path, v.tick)
		is := func(path string) bool {
			path = m.byID(path, e.Compared)
			return within(planted, path) || path != "" && within(path, planted) // of a lost element, a field may differ
		}
		if e.Cause != nil && is(e.Cause.Path) || slices.ContainsFunc(e.Fields.List, func(f state.Difference) bool { return is(f.Path) }) {
			return true
		}
		return !m.differs(planted, e.Compared) && m.sectionNamed(e)
	}
	return true
}

// is reports whether a cause is what was planted.
func (v *variant) is(c *desync.Cause) bool {
	if v.command != nil && (c.Command == nil || c.Command.Player != v.command.Player || c.Command.Sequence != v.command.Sequence) {
		return false
	}
	return c.Kind == v.kind
}

// count counts a right answer.
func count(n *int, right bool) {
	if right {
		*n++
	}
}

// within reports whether a path is a field or the place of one.
func within(path, field string) bool {
	rest, ok := strings.CutPrefix(path, field)
	return ok && field != "" && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// differs reports whether a field, or its presence, differs at a tick. A planted fault may
// leave its field, as when the elements of a list without IDs move up.
func (m *match) differs(path string, t lockstep.Tick) bool {
	x, absent := m.game.StateSchema().Lookup(m.states[t], path)
	y, absent2 := m.game.StateSchema().Lookup(m.copied[t], path)
	return (absent == nil) != (absent2 == nil) || !bytes.Equal(x.Bytes, y.Bytes)
}

// sectionNamed reports whether the first field of an explanation is in the first section
// that differs.
func (m *match) sectionNamed(e *desync.Explanation) bool {
	want, err := m.section(m.states[e.Compared], m.copied[e.Compared])
	return err == nil && len(e.Fields.List) > 0 && within(e.Fields.List[0].Path, want)
}

// byID returns a path in the state of a tick that selects an element by its ID. An index
// changes when an element before it is removed. Elements without an ID keep their index.
func (m *match) byID(path string, t lockstep.Tick) string {
	name, rest, ok := strings.Cut(path, "[")
	index, rest, ok2 := strings.Cut(rest, "]")
	if !ok || !ok2 {
		return path
	}
	for _, id := range []string{"ID", "Id", "id"} {
		if v, err := m.game.StateSchema().Lookup(m.states[t], name+"["+index+"]."+id); err == nil {
			return name + "[" + id + "=" + v.String() + "]" + rest
		}
	}
	return path
}

func party(e *desync.Explanation) string {
	switch {
	case e.Verdict.Party == desync.WrongPlayer && len(e.Verdict.Players) == 1:
		return player(e.Verdict.Players[0])
	case e.Verdict.Party == desync.WrongReferee:
		return "the referee"
	}
	return string(e.Verdict.Party)
}

// evidence returns the evidence of the first report: both sides' states of the last right check and of the wrong one.
func (m *match) evidence() *host.Evidence {
	r := m.reports[0]
	e := &host.Evidence{Report: r}
	for p := range lockstep.Player(m.subject.Players) {
		e.Participants = append(e.Participants, host.Participant{Player: p, Name: player(p), Build: m.header.Build, Platform: m.header.Platform})
	}
	for _, t := range []lockstep.Tick{r.Agreed, r.Tick} {
		if t == 0 {
			continue // all know the beginning
		}
		e.Exhibits = append(e.Exhibits, m.exhibit(t))
	}
	return e
}

// exhibit returns both sides' states of a tick.
func (m *match) exhibit(t lockstep.Tick) host.Exhibit {
	return host.Exhibit{Tick: t, Referee: m.states[t], Player: m.copied[t], Hash: m.hash(m.copied[t])}
}

// bundle returns a bundle of the evidence, as a server writes it once the player has answered and the log has the other
// players' reports.
func (m *match) bundle(e *host.Evidence) (*replay.Bundle, error) {
	written := m.file
	for _, b := range m.blocks {
		if b.tick >= e.Report.Tick+m.subject.checks() {
			written = m.file[:b.end]
			break
		}
	}
	var out bytes.Buffer
	if err := replay.WriteBundle(&out, m.header, e, bytes.NewReader(written)); err != nil {
		return nil, err
	}
	return replay.OpenBundle(bytes.NewReader(out.Bytes()), int64(out.Len()))
}

func (m *match) explained(tools toolset, evidence *host.Evidence) (*desync.Explanation, error) {
	b, err := m.bundle(evidence)
	if err != nil {
		return nil, err
	}
	return tools.Explain(b, desync.Options{Budget: 5 * time.Second, Game: func(*lockstep.Header) (*lockstep.Game, error) { return m.game, nil }})
}

// explanation returns an explanation as a clue.
func explanation(e *desync.Explanation) clue {
	got := clue{What: "desync", Tick: e.First.To, Who: party(e)}
	if !e.First.Exact() {
		got.After = e.First.From - 1
	}
	if e.Cause != nil {
		got.What, got.Field = string(e.Cause.Kind), e.Cause.Path
	}
	if len(e.Places.List) > 0 {
		got.Field, got.Fields = e.Places.List[0].First.Path, e.Places.Total
	}
	return got
}
