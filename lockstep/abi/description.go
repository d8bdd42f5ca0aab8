package abi

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/state"
)

// ErrUnsupported is wrapped by the error of rules with another version of the ABI.
var ErrUnsupported = errors.New("these rules need a newer samestep")

// MaxDescription is the largest description of rules, in bytes.
const MaxDescription = 1 << 20

// A Description says what rules are: the answer of [Describe], as JSON.
type Description struct {
	ABI      int            `json:"abi"` // Version
	Game     string         `json:"game"`
	Build    string         `json:"build"`
	Sources  record.Sources `json:"sources,omitzero"`
	State    Type           `json:"state"`
	Config   Type           `json:"config"`
	Commands []Kind         `json:"commands"`
	Result   Type           `json:"result,omitzero"`     // none: the rules cannot end a match
	View     Type           `json:"view,omitzero"`       // none: the rules have no views
	ViewTags []state.Tag    `json:"view_tags,omitempty"` // how the fields of a view are sent, see docs/feed.md
	Assets   bool           `json:"assets,omitempty"`
	Words    bool           `json:"words,omitempty"`            // the rules describe commands in words
	SelfTest uint64         `json:"self_test,string,omitempty"` // what the rules' own test has given
}

// A Kind is a kind of command.
type Kind struct {
	Kind    record.CommandKind `json:"kind"`
	Name    string             `json:"name"`
	Payload Type               `json:"payload"`
	Limit   int                `json:"limit,omitempty"` // commands of a player in the time Per; 0: any number
	Per     record.Time        `json:"per_us,string,omitempty"`
}

// A Type is a schema in a description: a struct of Go as text, see [state.ParseType], or the hexadecimal digits of
// [state.Schema.AppendDescription], which also has the fraction bits of fixed-point numbers.
type Type struct{ *state.Schema }

// MarshalText returns the hexadecimal digits of the schema.
func (t Type) MarshalText() ([]byte, error) {
	if t.Schema == nil {
		return nil, errors.New("want a schema")
	}
	return hex.AppendEncode(nil, t.AppendDescription(nil)), nil
}

// UnmarshalText reads one of the two forms.
func (t *Type) UnmarshalText(text []byte) (err error) {
	if strings.HasPrefix(strings.TrimSpace(string(text)), "struct") {
		t.Schema, err = state.ParseType(string(text))
		return err
	}
	b, err := hex.DecodeString(string(text))
	if err != nil {
		return fmt.Errorf("got a type that is neither \"struct {…}\" nor hexadecimal digits")
	}
	t.Schema, err = state.ParseSchema(b)
	return err
}

// Schemas returns the schemas of all types.
func (d *Description) Schemas() (all []*state.Schema) {
	types := []Type{d.State, d.Config, d.Result, d.View}
	for _, k := range d.Commands {
		types = append(types, k.Payload)
	}
	for _, t := range types {
		if t.Schema != nil {
			all = append(all, t.Schema)
		}
	}
	return all
}

// ParseDescription reads the answer of [Describe]. It returns an error for a key that this version does not have, and [ErrUnsupported] for
// another version.
func ParseDescription(text []byte) (*Description, error) {
	if len(text) > MaxDescription {
		return nil, fmt.Errorf("got a description of %d bytes, want at most %d", len(text), MaxDescription)
	}
	var version struct {
		ABI *int `json:"abi"`
	}
	d := new(Description)
	if err := json.Unmarshal(text, &version); err != nil {
		return nil, fmt.Errorf("description: %w", err)
	}
	if version.ABI == nil {
		return nil, fmt.Errorf("description: got no version, want %d", Version)
	}
	if *version.ABI != Version {
		return nil, fmt.Errorf("%w: got version %d of docs/spec/abi.md, want %d", ErrUnsupported, *version.ABI, Version)
	}
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	if err := strict.Decode(d); err != nil {
		return nil, fmt.Errorf("description: %w", err)
	}
	if d.State.Schema == nil || d.Config.Schema == nil {
		return nil, errors.New("description: want the types of state and config")
	}
	for _, k := range d.Commands {
		if k.Payload.Schema == nil {
			return nil, fmt.Errorf("description: command %d: want the type of its payload", k.Kind)
		}
	}
	return d, nil
}
