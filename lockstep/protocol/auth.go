package protocol

import (
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// The capabilities of a client. A server ignores unknown ones, and a client that lacks one gets no message that needs it.
const (
	Flight     = "flight"     // it keeps a record of its last ticks, see [KindFlightRequest]
	Packed     = "packed"     // it takes pieces of states in DEFLATE form, see [KindPackedSync]
	Resimulate = "resimulate" // it computes ticks again, see [KindResimulate]
	Views      = "views"      // it is sent views of the match in place of its records, and simulates nothing
)

// Can reports whether the client has a capability.
func (a *Auth) Can(capability string) bool { return slices.Contains(a.Capabilities, capability) }

func checkCapabilities(m *Message) error {
	all := m.Auth.Capabilities
	for i, c := range all {
		if c == "" || i > 0 && c <= all[i-1] {
			return fmt.Errorf("capability %q: want names that ascend", c)
		}
	}
	return nil
}

// NewAuth returns the identity that a client of a game gives, without a token.
func NewAuth(g *lockstep.Game) *Auth {
	platform := lockstep.Platform()
	return &Auth{
		Protocol: record.Protocol, Engine: record.Engine, Game: g.Name(), Build: g.Build(),
		Platform:    record.JoinPlatform(platform, g.Sources().TextAfter(platform)),
		StateSchema: g.StateSchema().Fingerprint(), CommandSchema: record.CommandFingerprint(g.Commands()), SelfTest: g.SelfTest(),
	}
}

// NewViewerAuth returns the identity that a client gives that wants views of a game, without a token.
func NewViewerAuth(g *lockstep.Game) *Auth {
	a := NewAuth(g)
	a.Capabilities, a.StateSchema, a.SelfTest = []string{Views}, g.ViewSchema().Fingerprint(), lockstep.SelfTest{}
	return a
}

// CheckViewer is [Auth.CheckIdentity] of a client of [Views], whose state is the view. It simulates nothing, so its build and its
// self-test do not matter, and neither do fingerprints that are 0: it takes views as they are described, or has no commands.
func (a *Auth) CheckViewer(want *Auth) error {
	if err := a.checkProtocol(want); err != nil {
		return err
	}
	if a.Game != want.Game {
		return &lockstep.IdentityError{Field: "game", Got: a.Game, Want: want.Game}
	}
	for _, s := range []struct {
		field     string
		got, want uint64
	}{{"view schema", a.StateSchema, want.StateSchema}, {"command schema", a.CommandSchema, want.CommandSchema}} {
		if s.got != 0 && s.got != s.want {
			return &lockstep.IdentityError{Field: s.field, Got: checksum.FormatHash(s.got), Want: checksum.FormatHash(s.want)}
		}
	}
	return nil
}

// AuthOf returns the identity of a client of the match with header h, without a token and the game's part of the self-test.
func AuthOf(h *lockstep.Header) *Auth {
	a := &Auth{Protocol: h.Protocol, Engine: h.Engine, Game: h.Game, Build: h.Build, SelfTest: lockstep.KnownSelfTest()}
	a.StateSchema, a.CommandSchema = h.Fingerprints()
	return a
}

func (a *Auth) checkProtocol(want *Auth) error {
	if a.Protocol != want.Protocol {
		return &lockstep.IdentityError{Field: "protocol", Got: fmt.Sprint(a.Protocol), Want: fmt.Sprint(want.Protocol)}
	}
	return nil
}

// CheckIdentity returns an [*lockstep.IdentityError] that names the first value in which a differs from want. Capabilities are no identity.
func (a *Auth) CheckIdentity(want *Auth) error {
	if err := a.checkProtocol(want); err != nil {
		return err
	}
	if err := a.program().CheckIdentity(want.program()); err != nil {
		return err
	}
	theirs, ours := a.sums(), want.sums()
	for i, s := range theirs {
		if *s.Sum != *ours[i].Sum {
			return &lockstep.IdentityError{Field: s.Name, Got: checksum.FormatHash(*s.Sum), Want: checksum.FormatHash(*ours[i].Sum)}
		}
	}
	return nil
}

// program returns the part of the identity that an auth and a header have in common.
func (a *Auth) program() *lockstep.Header {
	return &lockstep.Header{Protocol: record.Protocol, Engine: a.Engine, Game: a.Game, Build: a.Build}
}

// sums returns the rest of the identity: the fingerprints of the schemas and the self-test.
func (a *Auth) sums() []lockstep.SelfTestPart {
	all := []lockstep.SelfTestPart{{Name: "state schema", Sum: &a.StateSchema}, {Name: "command schema", Sum: &a.CommandSchema}}
	for _, p := range a.SelfTest.Parts() {
		all = append(all, lockstep.SelfTestPart{Name: "self-test of " + p.Name, Sum: p.Sum})
	}
	return all
}

// Schemas are those of a match, the answer to GET /matches/NAME/schemas. A refused client compares them, to name the field.
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

// Check returns an [*lockstep.IdentityError] that names the first field that is not that of a game, or nil.
func (s *Schemas) Check(g *lockstep.Game) error {
	h := &lockstep.Header{
		Protocol: record.Protocol, Engine: record.Engine, Game: g.Name(), Build: g.Build(),
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
