package replay

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/state"
)

// A Field is a leaf of a state, as text.
type Field struct {
	Path  string `json:"path"`  // such as "Units[ID=34].Pos.X", as [state.Schema.Names] names it
	Value string `json:"value"` // as [state.Value.String] gives it
}

// Show lets the text and the JSON show the leaves at or below a path, as [state.Schema.Lookup] takes it. The error wraps
// [state.ErrPath] if the state has no such path.
func (m *Moment) Show(path string) error {
	schema, err := state.ParseSchema(m.Header.StateSchema)
	if err != nil {
		return err
	}
	leaves, err := schema.LeavesAt(m.State, path)
	if err != nil {
		return err
	}
	m.Fields = []Field{}
	name := schema.Names(m.State)
	for v := range leaves {
		m.Fields = append(m.Fields, Field{name(v.Path), v.String()})
	}
	return nil
}

// Agreement says up to which tick the simulation agrees with the file.
func (m *Moment) Agreement() string {
	text := fmt.Sprintf("agrees with the file up to tick %d", m.Agreed)
	if m.Agreed < m.Tick {
		text += "; no later check was reached"
	}
	return text
}

// WriteText writes the Moment for people: one line, and one for each of its Fields.
func (m *Moment) WriteText(w io.Writer) error {
	took := ""
	if m.Took > 0 {
		took = " in " + words.Seconds(m.Took)
	}
	text := fmt.Sprintf("%s  %s, simulated %s from the keyframe of tick %d%s, %s", checksum.FormatHash(m.Hash),
		words.Size(len(m.State)), words.Count(m.Tick-m.Keyframe, "tick"), m.Keyframe, took, m.Agreement())
	if m.By != nil {
		text = m.recorded()
	}
	_, err := fmt.Fprintf(w, "tick %d  %s\n", m.Tick, text)
	for _, f := range m.Fields {
		if err == nil {
			_, err = fmt.Fprintf(w, "%s %s\n", f.Path, f.Value)
		}
	}
	return err
}

// MarshalJSON returns the Moment as samestep replay seek --json prints it, without the state itself.
func (m *Moment) MarshalJSON() ([]byte, error) {
	if m.By != nil {
		sum := ""
		if m.summed {
			sum = checksum.FormatHash(m.Hash)
		}
		return json.Marshal(struct {
			Tick     lockstep.Tick   `json:"tick"`
			By       lockstep.Player `json:"by"`
			Checksum string          `json:"checksum,omitempty"`
			Bytes    int             `json:"bytes"`
			Seconds  float64         `json:"seconds"`
			Fields   []Field         `json:"fields,omitempty"`
		}{m.Tick, *m.By, sum, len(m.State), m.Took.Seconds(), m.Fields})
	}
	return json.Marshal(struct {
		Tick     lockstep.Tick `json:"tick"`
		Keyframe lockstep.Tick `json:"keyframe"`
		Agreed   lockstep.Tick `json:"agreed"`
		Checksum string        `json:"checksum"`
		Bytes    int           `json:"bytes"`
		Seconds  float64       `json:"seconds"`
		Fields   []Field       `json:"fields,omitempty"`
	}{m.Tick, m.Keyframe, m.Agreed, checksum.FormatHash(m.Hash), len(m.State), m.Took.Seconds(), m.Fields})
}
