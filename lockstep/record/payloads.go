package record

import (
	"fmt"
	"reflect"

	"github.com/seed-49bee653/samestep/internal/pack"
)

// Untyped is a value in canonical bytes whose Go type is not in this program: a command, a configuration or a result of rules
// that run elsewhere.
type Untyped struct {
	Kind      CommandKind // of a command
	Canonical []byte
}

// Payloads turns command payloads into values of their registered types and back, and reuses its memory from one call
// to the next. It belongs to one goroutine.
type Payloads struct {
	kinds      *Kinds
	reader     pack.Reader
	writer     pack.Writer
	canonical  []byte
	packed     []byte
	unreadable string              // path of a string in the last packed value that is not UTF-8
	pools      map[*kindEntry]pool // only looked up, never ranged over
	used       []pool              // since the last reset
}

// NewPayloads returns the payload codec of these commands and of those of [System].
func (k *Kinds) NewPayloads() *Payloads {
	return &Payloads{kinds: k, pools: make(map[*kindEntry]pool)}
}

func (p *Payloads) pool(e *kindEntry) pool {
	q := p.pools[e]
	if q == nil {
		//samestep:allow unseen one of Type in this package
		q = e.newPool()
		p.pools[e] = q
	}
	return q
}

// entry returns the registered kind of a command of player p, or nil.
func (k *Kinds) entry(p Player, kind CommandKind) *kindEntry {
	if p == System {
		return systemKinds[kind]
	}
	return k.byKind[kind]
}

// Reset makes the memory of the decoded values available again.
func (p *Payloads) Reset() {
	for _, q := range p.used {
		q.reset()
	}
	p.used = p.used[:0]
}

// Decode sets c.Value to the decoded payload, a pointer to the registered type that is valid until Reset. It accepts
// only what Encode makes. An error wraps [ErrUnknownKind] or [ErrMalformed].
func (p *Payloads) Decode(c *Command) error {
	if err := p.decode(c); err != nil {
		return fmt.Errorf("lockstep: %w", err)
	}
	return nil
}

func (p *Payloads) decode(c *Command) error {
	e := p.kinds.entry(c.Player, c.Kind)
	if e == nil {
		return fmt.Errorf("%w %d of player %d", ErrUnknownKind, c.Kind, c.Player)
	}
	if len(c.Payload) > MaxPayload {
		return fmt.Errorf("%s: %w: got %d bytes, want at most %d", e.Name, ErrMalformed, len(c.Payload), MaxPayload)
	}
	var err error
	p.canonical, err = unpack(&p.reader, p.canonical[:0], e.schema, c.Payload)
	if err != nil {
		return fmt.Errorf("%s: %w", e.Name, err)
	}
	q := p.pool(e)
	if c.Value, err = q.decode(p.canonical); err != nil {
		return fmt.Errorf("%s: %w", e.Name, err)
	}
	p.used = append(p.used, q)
	return nil
}

// Encode returns the kind and the canonical payload of a command given as a pointer to its registered type. The bytes
// are valid until the next call.
func (p *Payloads) Encode(value any) (CommandKind, []byte, error) {
	if u, ok := value.(*Untyped); ok && u != nil {
		b, err := p.EncodeAs(u.Kind, u)
		return u.Kind, b, err
	}
	t := reflect.TypeOf(value)
	if t == nil || t.Kind() != reflect.Pointer || p.kinds.byType[t.Elem()] == nil {
		return 0, nil, fmt.Errorf("lockstep: got a command of type %T, want a pointer to a registered type", value)
	}
	kind := p.kinds.byType[t.Elem()].Kind
	b, err := p.EncodeAs(kind, value)
	return kind, b, err
}

// EncodeAs is Encode for a type that is registered for several kinds.
func (p *Payloads) EncodeAs(kind CommandKind, value any) ([]byte, error) {
	e := p.kinds.byKind[kind]
	if e == nil || reflect.TypeOf(value) != reflect.PointerTo(e.payload) {
		return nil, fmt.Errorf("lockstep: got a command of kind %d and type %T, want a registered pair", kind, value)
	}
	if reflect.ValueOf(value).IsNil() {
		return nil, fmt.Errorf("lockstep: %s: got a nil %T, want a value", e.Name, value)
	}
	if u, ok := value.(*Untyped); ok {
		if err := e.schema.Validate(u.Canonical); err != nil {
			return nil, fmt.Errorf("lockstep: %s: %w", e.Name, err)
		}
	}
	b := p.encode(e, value)
	if len(b) > MaxPayload {
		return nil, fmt.Errorf("lockstep: %s: got a payload of %d bytes, want at most %d", e.Name, len(b), MaxPayload)
	}
	if p.unreadable != "" {
		return nil, fmt.Errorf("lockstep: %s: field %s: got a string that is not UTF-8", e.Name, p.unreadable)
	}
	return b, nil
}

func (p *Payloads) encode(e *kindEntry, value any) []byte {
	p.canonical = p.pool(e).append(p.canonical[:0], value)
	p.unreadable = ""
	p.writer.Begin(p.packed[:0])
	p.pack(e.schema.Root(), p.canonical)
	p.packed = p.writer.Bytes()
	return p.packed
}

// maxCanonicalPayload bounds the canonical bytes of a payload: a number takes up to 8, and at least one in MessagePack.
const maxCanonicalPayload = 8 * MaxPayload

// ReadJSON returns the command of a kind that a JSON object describes, as a pointer to its registered type that is valid
// until Reset. A field that the object lacks is zero. An error wraps [ErrUnknownKind], or is that of
// [state.Schema.AppendJSON], which names the field.
func (p *Payloads) ReadJSON(kind CommandKind, text []byte) (any, error) {
	e := p.kinds.byKind[kind]
	if e == nil {
		return nil, fmt.Errorf("lockstep: %w %d", ErrUnknownKind, kind)
	}
	var err error
	if p.canonical, err = e.schema.AppendJSON(p.canonical[:0], nil, text, maxCanonicalPayload); err != nil {
		return nil, fmt.Errorf("lockstep: %s: %w", e.Name, err)
	}
	q := p.pool(e)
	value, err := q.decode(p.canonical)
	if err != nil {
		return nil, fmt.Errorf("lockstep: %s: %w", e.Name, err)
	}
	p.used = append(p.used, q)
	if _, err := p.EncodeAs(kind, value); err != nil { // too long
		return nil, err
	}
	return value, nil
}

// EncodeSystem is Encode for a command of [System], such as a *Joined.
func (p *Payloads) EncodeSystem(value any) (CommandKind, []byte) {
	e := systemTypes[reflect.TypeOf(value).Elem()]
	return e.Kind, p.encode(e, value)
}
