package replay

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/feed"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// An Audit says how often the commands of a player refer to what the player has never seen, as those of a player who sees what the
// rules hide would do. A field of a command refers to elements of a list, of the view and of the state, by their ids if its tag says so:
//
//	Target UnitID `feed:"of=Units"`
type Audit struct {
	Player     lockstep.Player   `json:"player"`
	Commands   int               `json:"commands"`
	References int               `json:"references"` // to elements that exist
	Unseen     []UnseenReference `json:"unseen"`     // to elements that no view of the player had shown before
	Expected   float64           `json:"expected"`   // how many there would be if each were to any element by chance
}

// An UnseenReference is a command that refers to what its player has never seen.
type UnseenReference struct {
	Tick     lockstep.Tick     `json:"tick"`
	Sequence lockstep.Sequence `json:"sequence"`
	Command  string            `json:"command"` // in words
	List     string            `json:"list"`    // such as "Units"
	ID       uint64            `json:"id,string"`
	Unseen   int               `json:"unseen_elements"` // elements of the list that the player had not seen
	Elements int               `json:"elements"`
}

// ErrNoReferences is the error of [AuditPlayers] for a game none of whose commands has a tag that says what it refers to.
var ErrNoReferences = errors.New("replay: no field of a command has a tag such as feed:\"of=Units\"")

// AuditPlayers simulates a replay, and audits the commands of all players. It needs a game with views.
func AuditPlayers(r *Reader, g *lockstep.Game, o SimulateOptions) ([]Audit, error) {
	if g.ViewSchema() == nil {
		return nil, fmt.Errorf("replay: the rules of %s have no views", g.Name())
	}
	plan, err := feed.NewPlan(g.ViewSchema(), g.ViewTags())
	if err != nil {
		return nil, err
	}
	if !refers(g) {
		return nil, ErrNoReferences
	}
	c, err := NewCursor(r, g, 0)
	if err != nil {
		return nil, err
	}
	a := &auditor{cursor: c, plan: plan, game: g, payloads: g.NewPayloads()}
	header := c.follower.Header()
	if a.words, err = lockstep.NewDescriber(header, g); err != nil {
		return nil, err
	}
	for p := range header.Settings.Players {
		a.players = append(a.players, audited{Audit: Audit{Player: lockstep.Player(p), Unseen: []UnseenReference{}}, seen: map[element]bool{}})
	}
	for o.MaxTicks == 0 || c.Tick() < o.MaxTicks {
		frame, err := c.Frame()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		if err == nil {
			err = a.look()
		}
		if err == nil {
			err = a.frame(frame)
		}
		if err == nil {
			err = c.Step()
		}
		if err != nil {
			return nil, err
		}
	}
	all := make([]Audit, len(a.players))
	for i := range a.players {
		all[i] = a.players[i].Audit
	}
	return all, nil
}

// referTag is the beginning of the tag of a field that refers to elements of a list.
const referTag = "of="

func refers(g *lockstep.Game) bool {
	payloads := g.NewPayloads()
	for _, d := range g.Commands() {
		if v, err := payloads.ReadJSON(d.Kind, []byte("{}")); err == nil && tagged(reflect.TypeOf(v).Elem()) {
			return true
		}
	}
	return false
}

func tagged(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		return tagged(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); strings.HasPrefix(f.Tag.Get("feed"), referTag) || tagged(f.Type) {
				return true
			}
		}
	}
	return false
}

type auditor struct {
	cursor   *Cursor
	plan     *feed.Plan
	game     *lockstep.Game
	payloads *record.Payloads
	words    *lockstep.Describer
	players  []audited
	view     []byte
}

type audited struct {
	Audit
	seen map[element]bool // ever
}

type element struct {
	list string
	id   uint64
}

func (a *auditor) look() error {
	sim := a.cursor.Simulation()
	for i := range a.players {
		p := &a.players[i]
		var err error
		if a.view, err = sim.AppendView(a.view[:0], sim.ViewerOf(p.Player)); err != nil {
			return err
		}
		err = a.plan.IDs(a.view, func(list string, id uint64) { p.seen[element{list, id}] = true })
		if err != nil {
			return err
		}
	}
	return nil
}

// frame audits the commands of a frame. The state is the one before it.
func (a *auditor) frame(f *lockstep.Frame) error {
	defer a.payloads.Reset()
	for i := range f.Commands {
		c := f.Commands[i]
		if int(c.Player) >= len(a.players) {
			continue
		}
		if err := a.payloads.Decode(&c); err != nil {
			return err
		}
		p := &a.players[c.Player]
		p.Commands++
		if err := a.command(p, &c, reflect.ValueOf(c.Value).Elem(), ""); err != nil {
			return err
		}
	}
	return nil
}

// command audits a value of a command. list is that of the tag around it.
func (a *auditor) command(p *audited, c *lockstep.Command, v reflect.Value, list string) error {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			of, ok := strings.CutPrefix(v.Type().Field(i).Tag.Get("feed"), referTag)
			if !ok {
				of = list
			}
			if err := a.command(p, c, v.Field(i), of); err != nil {
				return err
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if err := a.command(p, c, v.Index(i), list); err != nil {
				return err
			}
		}
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if list != "" {
			return a.reference(p, c, list, v.Uint())
		}
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if list != "" {
			return a.reference(p, c, list, uint64(v.Int()))
		}
	}
	return nil
}

func (a *auditor) reference(p *audited, c *lockstep.Command, list string, id uint64) error {
	bytes := a.cursor.Simulation().AppendState(nil)
	v, err := a.game.StateSchema().Lookup(bytes, list)
	if err != nil {
		return fmt.Errorf("replay: the tag feed:\"of=%s\" of a command: %w", list, err)
	}
	field, at, ok := v.Node.IDField()
	if !ok {
		return fmt.Errorf("replay: the tag feed:\"of=%s\" of a command: the elements of the state's list have no ID", list)
	}
	size, _ := field.Size()
	exists, unseen, all := false, 0, int(binary.LittleEndian.Uint32(v.Bytes))
	for e := range v.Elements() {
		other := field.Unscaled(e.Bytes[at : at+size])
		exists = exists || other == id
		if !p.seen[element{list, other}] {
			unseen++
		}
	}
	if !exists {
		return nil // it is gone, or 0 for none
	}
	p.References++
	p.Expected += float64(unseen) / float64(all)
	if !p.seen[element{list, id}] {
		p.Unseen = append(p.Unseen, UnseenReference{c.Tick, c.Sequence, a.words.Describe(c), list, id, unseen, all})
	}
	return nil
}
