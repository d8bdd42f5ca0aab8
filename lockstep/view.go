package lockstep

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/seed-49bee653/samestep/state"
)

// A Viewer is for whom a view is made. Its text is "player:1", "team:0", "spectator", or "role:" and a name that the game
// knows.
type Viewer struct {
	As     ViewerKind
	Number uint8  // of the player or the team
	Role   string // with AsRole
}

// A ViewerKind says what a [Viewer] is.
type ViewerKind uint8

// The kinds of viewers.
const (
	AsSpectator ViewerKind = iota
	AsPlayer
	AsTeam
	AsRole
)

// ParseViewer reads the text of a viewer.
func ParseViewer(text string) (Viewer, error) {
	kind, rest, _ := strings.Cut(text, ":")
	number, err := strconv.ParseUint(rest, 10, 8)
	switch {
	case text == "spectator":
		return Viewer{}, nil
	case kind == "player" && err == nil:
		return Viewer{As: AsPlayer, Number: uint8(number)}, nil
	case kind == "team" && err == nil:
		return Viewer{As: AsTeam, Number: uint8(number)}, nil
	case kind == "role" && rest != "" && len(rest) <= 64:
		return Viewer{As: AsRole, Role: rest}, nil
	}
	return Viewer{}, fmt.Errorf("got the viewer %q, want player:N, team:N, spectator or role:NAME", text)
}

// String returns the text of the viewer.
func (v Viewer) String() string {
	switch v.As {
	case AsPlayer:
		return fmt.Sprintf("player:%d", v.Number)
	case AsTeam:
		return fmt.Sprintf("team:%d", v.Number)
	case AsRole:
		return "role:" + v.Role
	}
	return "spectator"
}

// A ViewType is what viewers of a match may see. Make one with [View].
type ViewType struct {
	compile func() (*viewCodec, error)
}

// View makes V the type of a game's views. V is plain data, as package state describes it. see sets *view, which is zero except
// for the memory of its slices, to what a viewer may see of a world. It writes nothing else, and depends on nothing else. The
// error refuses a viewer.
//
// refuse returns an error, which the command's player sees, to refuse a command. It depends on nothing but its arguments, and
// changes neither: view is what the command's player may see of the state before the tick being sealed. So equal views give equal
// answers, and no answer tells what a view hides. Step must let a command fail quietly for any other reason. Nil accepts every
// well-formed command; so does a player's lack of a view.
func View[S, C, V any](see func(world *S, config *C, viewer Viewer, view *V) error, refuse func(view *V, command *Command) error) ViewType {
	return ViewType{func() (*viewCodec, error) {
		codec, err := state.Compile[V]()
		if err != nil {
			return nil, err
		}
		c := &viewCodec{
			decode: func(b []byte, v any) error { return codec.Decode(b, v.(*V)) },
			schema: codec.Schema(), tags: state.Tags(reflect.TypeFor[V](), "feed"), of: reflect.TypeFor[V](), world: reflect.TypeFor[S](), config: reflect.TypeFor[C](),
			maker: func() func(world, config any, viewer Viewer, dst []byte) ([]byte, error) {
				v := new(V)
				return func(world, config any, viewer Viewer, dst []byte) ([]byte, error) {
					*v = *new(V)
					if err := see(world.(*S), config.(*C), viewer, v); err != nil {
						return dst, err
					}
					return codec.Append(dst, v), nil
				}
			},
		}
		if refuse != nil {
			c.read = func(b []byte) (any, error) { v := new(V); return v, codec.Decode(b, v) }
			c.refuse = func(view any, command *Command) error { return refuse(view.(*V), command) }
		}
		return c, nil
	}}
}

// A viewCodec is a compiled ViewType.
type viewCodec struct {
	schema            *state.Schema
	tags              []state.Tag // how fields are sent
	of, world, config reflect.Type
	decode            func(b []byte, v any) error
	maker             func() func(world, config any, viewer Viewer, dst []byte) ([]byte, error)
	read              func(b []byte) (view any, err error)
	refuse            func(view any, c *Command) error // nil if the rules refuse no command
}

// compileView returns nil for rules without views.
func compileView[S, C any](t ViewType) (*viewCodec, error) {
	if t.compile == nil {
		return nil, nil
	}
	c, err := t.compile()
	if err != nil {
		return nil, err
	}
	if c.world != reflect.TypeFor[S]() || c.config != reflect.TypeFor[C]() {
		return nil, fmt.Errorf("it is made from %v and %v, want %v and %v", c.world, c.config, reflect.TypeFor[S](), reflect.TypeFor[C]())
	}
	return c, nil
}

// glimpses are what players see of a state, for their commands of one tick.
type glimpses struct {
	list []glimpse
	buf  []byte // scratch
}

type glimpse struct {
	viewer Viewer
	view   any // nil: the viewer gets none
}

// of returns what a viewer sees, or nil. make makes the bytes of its view, once. The view is read from these, so a view of which a
// field is derived, or shares memory with the state, tells no more than it shows.
func (g *glimpses) of(viewer Viewer, codec *viewCodec, make func(dst []byte, viewer Viewer) ([]byte, error)) any {
	for i := range g.list {
		if g.list[i].viewer == viewer {
			return g.list[i].view
		}
	}
	one := glimpse{viewer: viewer}
	var err error
	if g.buf, err = make(g.buf[:0], viewer); err == nil {
		if one.view, err = codec.read(g.buf); err != nil {
			panic(err) // a codec reads what it has written
		}
	}
	g.list = append(g.list, one)
	return one.view
}

// forget drops what was made of another state.
func (g *glimpses) forget() {
	clear(g.list) // for the garbage collector
	g.list = g.list[:0]
}
