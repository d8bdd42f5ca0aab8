package lockstep

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/state"
)

// A Describer describes the commands of a log in words. It needs only the log's header. With the game's code, it uses
// the game's words. It belongs to one goroutine.
type Describer struct {
	game     *Game // nil without its code or its Describe
	payloads *record.Payloads
	kinds    map[Kind]describedKind // only looked up, never ranged over
	system   map[Kind]describedKind // only looked up, never ranged over
	text     strings.Builder
}

type describedKind struct {
	name   string
	schema *state.Schema
}

// NewDescriber returns a Describer of the log with header h. Pass the game if its code is available and its identity is
// the log's, and nil otherwise. The error is that of a schema in the header.
func NewDescriber(h *Header, g *Game) (*Describer, error) {
	kinds, err := parseKinds(h.Commands)
	if err != nil {
		return nil, err
	}
	system, err := parseKinds(record.SystemDescriptions())
	if err != nil {
		return nil, err
	}
	d := &Describer{kinds: kinds, system: system}
	if g != nil && g.describe != nil {
		d.game, d.payloads = g, g.NewPayloads()
	}
	return d, nil
}

func parseKinds(list []record.CommandDescription) (map[Kind]describedKind, error) {
	kinds := make(map[Kind]describedKind, len(list))
	for _, c := range list {
		s, err := state.ParseSchema(c.Schema)
		if err != nil {
			return nil, fmt.Errorf("lockstep: schema of command %q: %w", c.Name, err)
		}
		kinds[c.Kind] = describedKind{c.Name, s}
	}
	return kinds, nil
}

// Describe returns one line of printable text about a command with any payload.
func (d *Describer) Describe(c *Command) string {
	if d.game != nil && c.Player != System {
		d.payloads.Reset()
		own := *c
		if d.payloads.Decode(&own) == nil {
			// The command may be of a hostile log, on which the game panics.
			if text, err := d.game.Describe(&own); err == nil && text != "" {
				return printable(text)
			}
		}
	}
	kind, ok := d.kinds[c.Kind]
	if own, is := d.system[c.Kind]; is && c.Player == System {
		kind, ok = own, true
	}
	who := fmt.Sprintf("player %d", c.Player)
	if c.Player == System {
		who = "system"
	}
	if !ok {
		return fmt.Sprintf("%s: unknown kind %d, payload %x", who, c.Kind, c.Payload)
	}
	fields, err := d.fields(kind.schema, c.Payload)
	if err != nil {
		fields = fmt.Sprintf("%x (%v)", c.Payload, err)
	}
	return printable(fmt.Sprintf("%s: %s %s", who, kind.name, fields))
}

// Describe describes a decoded command of a player in the game's own words. It returns "" if the game has none, and a
// [*PanicError] if the game's Describe panics.
func (g *Game) Describe(c *Command) (text string, err error) {
	if g.describe == nil {
		return "", nil
	}
	defer func() {
		if v := recover(); v != nil {
			text, err = "", panicked(c.Tick, "Describe", v)
		}
	}()
	//samestep:allow unseen for people: no simulation reads it
	return g.describe(c), nil
}

// fields returns a payload as one line of JSON.
func (d *Describer) fields(s *state.Schema, payload []byte) (string, error) {
	d.text.Reset()
	if err := s.DumpJSON(&d.text, payload); err != nil {
		return "", err
	}
	return strings.TrimSuffix(d.text.String(), "\n"), nil
}

// printable replaces characters that could control a terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '\uFFFD'
		}
		return r
	}, text)
}
