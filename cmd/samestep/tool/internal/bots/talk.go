//go:build !js

// Package bots speaks with programs that play: lines of JSON, a reset or commands for each step. The verbs gym and join have one
// conversation each. docs/bots.md has the protocol.
package bots

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/state"
)

// Version is the number of the protocol.
const Version = 1

// A Talk is a conversation with a program about matches of one game.
type Talk struct {
	game     *gameset.Playable
	program  *Program
	seats    []lockstep.Player
	views    bool
	wanted   []bool // by field
	kinds    map[string]lockstep.Kind
	payloads *record.Payloads
	line     []byte
}

// Options say what a program sees.
type Options struct {
	Observe string // view, state or "", which is a view if the rules have them
	Fields  string // names of fields of it, separated by commas; "": all
}

// New returns a conversation.
func New(g *gameset.Playable, o Options) (*Talk, error) {
	t := &Talk{game: g, kinds: map[string]lockstep.Kind{}, payloads: g.NewPayloads()}
	for _, c := range g.Commands() {
		t.kinds[c.Name] = c.Kind
	}
	switch o.Observe {
	case "":
		t.views = g.ViewSchema() != nil
	case "view":
		if t.views = true; g.ViewSchema() == nil {
			return nil, console.Usagef("--observe: the rules of %s have no views (Rules.View)", g.Name())
		}
	case "state":
	default:
		return nil, console.Usagef("--observe: got %q, want view or state", o.Observe)
	}
	if o.Fields != "" {
		return t, t.choose(strings.Split(o.Fields, ","))
	}
	return t, nil
}

// choose keeps some fields of the observations.
func (t *Talk) choose(names []string) error {
	root := t.root()
	var all []string
	for i := range root.NumFields() {
		all = append(all, root.Field(i).Name())
		t.wanted = append(t.wanted, slices.Contains(names, root.Field(i).Name()))
	}
	for _, name := range names {
		if !slices.Contains(all, name) {
			return console.Usagef("--fields: got %q, want some of %s", name, strings.Join(all, ","))
		}
	}
	return nil
}

// Views reports whether the program sees views.
func (t *Talk) Views() bool { return t.views }

// With sets the program of the conversation, and the seats that it plays.
func (t *Talk) With(p *Program, seats []lockstep.Player) { t.program, t.seats = p, seats }

func (t *Talk) root() state.Node {
	if t.views {
		return t.game.ViewSchema().Root()
	}
	return t.game.StateSchema().Root()
}

// A Hello is the first line.
type Hello struct {
	Type        string          `json:"type"`
	Protocol    int             `json:"protocol"`
	Verb        string          `json:"verb"`
	Game        string          `json:"game"`
	Build       string          `json:"build"`
	Players     uint8           `json:"players"`
	Seats       []int           `json:"seats"` // that the program plays
	TickMicros  uint32          `json:"tick_micros"`
	Every       lockstep.Tick   `json:"every"` // ticks of a step
	Observes    string          `json:"observes"`
	Observation json.RawMessage `json:"observation"` // its type
	Commands    []helloCommand  `json:"commands"`
	Scored      bool            `json:"scored"` // the game has scores, so that there are rewards
}

type helloCommand struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"` // its type
}

// Greet says the first line, and returns the first reset.
func (t *Talk) Greet(ctx context.Context, verb string, players uint8, tickMicros uint32, every lockstep.Tick) (*Reset, error) {
	h := Hello{Type: "hello", Protocol: Version, Verb: verb, Game: t.game.Name(), Build: t.game.Build(), Players: players, TickMicros: tickMicros, Every: every, Observes: "state", Scored: t.game.Score != nil}
	if t.views {
		h.Observes = "view"
	}
	for _, p := range t.seats {
		h.Seats = append(h.Seats, int(p))
	}
	h.Observation = t.describe()
	for _, c := range t.game.Commands() {
		s, err := state.ParseSchema(c.Schema)
		if err != nil {
			return nil, err
		}
		h.Commands = append(h.Commands, helloCommand{c.Name, typeOf(nil, s.Root(), nil)})
	}
	b, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	r, err := t.ask(ctx, append(b, '\n'), true)
	if err != nil {
		return nil, err
	}
	return r.Reset, nil
}

func (t *Talk) describe() []byte { return typeOf(nil, t.root(), t.wanted) }

// typeOf appends the type of a node: the name of a kind, or an object with one key: fixed with the bits of its fraction, list, array or fields.
func typeOf(dst []byte, n state.Node, wanted []bool) []byte {
	switch n.Kind() {
	case state.Struct:
		dst = append(dst, `{"fields":{`...)
		first := true
		for i := range n.NumFields() {
			if wanted != nil && !wanted[i] {
				continue
			}
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = append(strconv.AppendQuote(dst, n.Field(i).Name()), ':')
			dst = typeOf(dst, n.Field(i), nil)
		}
		return append(dst, `}}`...)
	case state.Slice:
		return append(typeOf(append(dst, `{"list":`...), n.Elem(), nil), '}')
	case state.Array:
		return fmt.Appendf(typeOf(append(dst, `{"array":`...), n.Elem(), nil), `,"length":%d}`, n.Len())
	}
	if bits := n.FractionBits(); bits > 0 {
		return fmt.Appendf(dst, `{"fixed":%q,"fraction":%d}`, n.Kind(), bits)
	}
	return strconv.AppendQuote(dst, n.Kind().String())
}

// A Step is what a program gets of a tick.
type Step struct {
	Tick                  lockstep.Tick
	Rewards               []int // by seat of the conversation; nil: none
	Terminated, Truncated bool
	Refused               []Refused // since the last step
	Result                string    // JSON of the result at the end, or ""

	Begins  bool // the episode
	Episode int
	Seed    *uint64 // that the program may know
	Config  []byte  // JSON of the configuration that the program may know
}

// A Refused is a command that the match has refused.
type Refused struct {
	Seat   int    `json:"seat"`
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// A Reset begins an episode.
type Reset struct {
	Seed   *seed           `json:"seed"`   // nil: the one after the last
	Config json.RawMessage `json:"config"` // fields of the configuration; none: as of --config
}

// A seed is a number or its text.
type seed uint64

// UnmarshalJSON implements [json.Unmarshaler].
func (s *seed) UnmarshalJSON(b []byte) error {
	n, err := strconv.ParseUint(strings.Trim(string(b), `"`), 10, 64)
	if err != nil {
		return fmt.Errorf("got the seed %s, want 0 to 18446744073709551615", b)
	}
	*s = seed(n)
	return nil
}

// A Reply is the answer to a step: a reset or commands.
type Reply struct {
	Reset    *Reset    `json:"reset"`
	Commands []Command `json:"commands"`
}

// A Command is a command of a reply.
type Command struct {
	Seat  *int            `json:"seat"` // nil: the only one
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"`

	Player lockstep.Player `json:"-"`
	Kind   lockstep.Kind   `json:"-"`
	Is     any             `json:"-"` // a pointer to its registered type, valid until the next answer
}

// Say says a step, with what each seat of the conversation sees, or once with the state, and returns the answer. io.EOF: the program has ended.
func (t *Talk) Say(ctx context.Context, s *Step, seen ...[]byte) (*Reply, error) {
	return t.ask(ctx, t.Line(s, seen...), s.Terminated || s.Truncated)
}

// Ask says a step that Line has made.
func (t *Talk) Ask(ctx context.Context, line []byte, over bool) (*Reply, error) {
	return t.ask(ctx, line, over)
}

// Line returns a step as a line, which is valid until the next call.
func (t *Talk) Line(s *Step, seen ...[]byte) []byte {
	b := fmt.Appendf(t.line[:0], `{"type":"step","tick":%d,`, s.Tick)
	if t.views {
		b = append(b, `"observations":{`...)
		for i, p := range t.seats {
			if i > 0 {
				b = append(b, ',')
			}
			b = fmt.Appendf(b, `"%d":`, p)
			b = t.observe(b, seen[i])
		}
		b = append(b, '}')
	} else {
		b = t.observe(append(b, `"state":`...), seen[0])
	}
	b = append(b, `,"rewards":{`...)
	for i, p := range t.seats {
		if i > 0 {
			b = append(b, ',')
		}
		reward := 0
		if s.Rewards != nil {
			reward = s.Rewards[i]
		}
		b = fmt.Appendf(b, `"%d":%d`, p, reward)
	}
	b = fmt.Appendf(b, `},"terminated":%v,"truncated":%v,"info":`, s.Terminated, s.Truncated)
	b = append(b, s.info()...)
	t.line = append(b, "}\n"...)
	return t.line
}

func (s *Step) info() []byte {
	info := struct {
		Episode int             `json:"episode,omitempty"`
		Seed    string          `json:"seed,omitempty"`
		Config  json.RawMessage `json:"config,omitempty"`
		Refused []Refused       `json:"refused,omitempty"`
		Result  json.RawMessage `json:"result,omitempty"`
	}{Refused: s.Refused}
	if s.Begins {
		info.Episode, info.Config = s.Episode, s.Config
		if s.Seed != nil {
			info.Seed = strconv.FormatUint(*s.Seed, 10)
		}
	}
	if s.Result != "" {
		info.Result = json.RawMessage(s.Result)
	}
	b, err := json.Marshal(info)
	if err != nil {
		panic(err) // it has only JSON of ours
	}
	return b
}

// observe appends a state or a view.
func (t *Talk) observe(dst, b []byte) []byte {
	root := t.root()
	if t.wanted == nil {
		return root.AppendJSON(dst, b)
	}
	dst = append(dst, '{')
	first := true
	for i := range root.NumFields() {
		f := root.Field(i)
		if t.wanted[i] {
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = f.AppendJSON(append(strconv.AppendQuote(dst, f.Name()), ':'), b)
		}
		b = b[f.SizeOf(b):]
	}
	return append(dst, '}')
}

const (
	wantReset = `{"reset": {}}`
	wantReply = `{"commands": [{"name": …, "value": {…}}, …]} or ` + wantReset
)

// ask says a line, and reads the answer. After an episode only a reset is one.
func (t *Talk) ask(ctx context.Context, line []byte, over bool) (*Reply, error) {
	b, err := t.program.Ask(ctx, line)
	if err != nil {
		return nil, err
	}
	want := wantReply
	if over {
		want = wantReset
	}
	r := &Reply{}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err = d.Decode(r); err == nil {
		if _, more := d.Token(); more != io.EOF {
			err = errors.New("more than one value")
		}
	}
	switch {
	case err != nil:
		return nil, t.program.Wrong("%v: got %s, want %s", err, quoted(b), want)
	case over && r.Reset == nil:
		return nil, t.program.Wrong("no episode goes on: got %s, want %s", quoted(b), want)
	case r.Reset != nil && r.Commands != nil:
		return nil, t.program.Wrong("got a reset and commands, want one of them")
	}
	if r.Reset != nil && string(r.Reset.Config) == "null" {
		r.Reset.Config = nil
	}
	t.payloads.Reset()
	for i := range r.Commands {
		if err := t.take(&r.Commands[i]); err != nil {
			return nil, t.program.Wrong("commands[%d]: %v", i, err)
		}
	}
	return r, nil
}

// take checks a command.
func (t *Talk) take(c *Command) (err error) {
	switch {
	case c.Seat == nil && len(t.seats) == 1:
		c.Player = t.seats[0]
	case c.Seat == nil:
		return fmt.Errorf("got no seat, want one of %v", t.seats)
	case *c.Seat < 0 || !slices.Contains(t.seats, lockstep.Player(*c.Seat)) || int(lockstep.Player(*c.Seat)) != *c.Seat:
		return fmt.Errorf("got seat %d, want one of %v, which this program plays", *c.Seat, t.seats)
	default:
		c.Player = lockstep.Player(*c.Seat)
	}
	kind, ok := t.kinds[c.Name]
	if !ok {
		var names []string
		for _, d := range t.game.Commands() {
			names = append(names, d.Name)
		}
		return fmt.Errorf("got the name %.64q, want one of %s", c.Name, strings.Join(names, ", "))
	}
	c.Kind = kind
	value := c.Value
	if value == nil {
		value = json.RawMessage("{}")
	}
	c.Is, err = t.payloads.ReadJSON(kind, value)
	return err
}

// Wrong is the error of the program's last line.
func (t *Talk) Wrong(format string, args ...any) error { return t.program.Wrong(format, args...) }
