package protocol

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// Schemas are the schemas of a match, the answer to GET /matches/NAME/schemas. A client that is refused because of a
// schema's fingerprint compares them with its own, to name the field.
type Schemas struct {
	Config   []byte          `json:"configuration"` // descriptions, see state.ParseSchema; base64 in JSON
	State    []byte          `json:"state"`
	Commands []CommandSchema `json:"commands"`
	Result   []byte          `json:"result,omitempty"`
}

// A CommandSchema describes a kind of command.
type CommandSchema struct {
	Kind   lockstep.Kind `json:"kind"`
	Name   string        `json:"name"`
	Schema []byte        `json:"schema"`
}

// SchemasOf returns the schemas in a header.
func SchemasOf(h *lockstep.Header) Schemas {
	s := Schemas{Config: h.ConfigSchema, State: h.StateSchema, Result: h.ResultSchema, Commands: make([]CommandSchema, len(h.Commands))}
	for i, c := range h.Commands {
		s.Commands[i] = CommandSchema{c.Kind, c.Name, c.Schema}
	}
	return s
}

// Check returns an [*lockstep.IdentityError] that names the first field in which the schemas differ from those of a game,
// and nil if they do not.
func (s *Schemas) Check(g *lockstep.Game) error {
	h := &lockstep.Header{
		Protocol: record.Protocol, Engine: lockstep.Engine, Game: g.Name(), Build: g.Build(),
		ConfigSchema: s.Config, StateSchema: s.State, ResultSchema: s.Result,
	}
	for _, c := range s.Commands {
		h.Commands = append(h.Commands, record.CommandDescription{Kind: c.Kind, Name: c.Name, Schema: c.Schema})
	}
	if err := h.CheckSchemas(); err != nil {
		return err
	}
	return g.CheckIdentity(h)
}
