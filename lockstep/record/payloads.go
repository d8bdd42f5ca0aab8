package record

import (
	"fmt"
	"reflect"
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
	kinds *Kinds
	buf   []byte              // the last encoded payload
	pools map[*kindEntry]pool // only looked up, never ranged over
	used  []pool              // since the last reset
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
	q := p.pool(e)
	if c.Value, err = q.decode(c.Payload); err != nil {
		return fmt.Errorf("%s: %w", e.Name, malformed{err})
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
	return b, nil
}

func (p *Payloads) encode(e *kindEntry, value any) []byte {
	p.buf = p.pool(e).append(p.buf[:0], value)
	return p.buf
}

// ReadJSON returns the command of a kind that a JSON object describes, as a pointer to its registered type that is valid
// until Reset. A field that the object lacks is zero. An error wraps [ErrUnknownKind], or is that of
// [state.Schema.AppendJSON], which names the field.
func (p *Payloads) ReadJSON(kind CommandKind, text []byte) (any, error) {
	e := p.kinds.byKind[kind]
	if e == nil {
		return nil, fmt.Errorf("lockstep: %w %d", ErrUnknownKind, kind)
	}
	var err error
	if p.buf, err = e.schema.AppendJSON(p.buf[:0], nil, text, MaxPayload); err != nil {
		return nil, fmt.Errorf("lockstep: %s: %w", e.Name, err)
	}
	c := Command{Kind: kind, Payload: p.buf}
	err = p.Decode(&c)
	return c.Value, err
}

// EncodeSystem is Encode for a command of [System], such as a *Joined.
func (p *Payloads) EncodeSystem(value any) (CommandKind, []byte) {
	e := systemTypes[reflect.TypeOf(value).Elem()]
	return e.Kind, p.encode(e, value)
}
