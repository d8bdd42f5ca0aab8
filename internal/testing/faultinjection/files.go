package faultinjection

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

// fileFaults returns the faults in the replay of a match without faults.
func (d *drill) fileFaults() []step {
	return []step{
		{"truncated file", d.truncated}, {"flipped bit in the file", d.flippedByte}, {"end of another match", d.spliced},
		{"edited command", d.editedCommand}, {"removed command", d.removedCommand}, {"edited checksum", d.editedChecksum},
		{"false keyframe", d.falseKeyframe}, {"wrong build", d.otherBuild}, {"another state", d.otherSchema},
		{"rules that changed without a new build", d.otherRules},
	}
}

// truncated cuts the file somewhere after its first tick.
func (d *drill) truncated() error {
	first := d.base.blocks[2].end
	size := first + d.dice.Int64N(int64(len(d.base.file))-first)
	last := d.base.blocks[0]
	for _, b := range d.base.blocks {
		if b.end <= size {
			last = b
		}
	}
	f := &fault{"truncated file", fmt.Sprintf("at byte %d", size)}
	file := d.base.file[:size]
	d.result.add(f, "verify", d.verify(file, d.base.game), clue{What: "cut short", Tick: last.tick, Byte: last.end})
	r, err := open(file)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	found, err := d.tools.Recover(replay.NewWriter(&out, replay.WriterOptions{}), r)
	if err != nil {
		return err
	}
	d.result.add(f, "recover", clue{What: "recovered", Tick: found.Ticks}, clue{What: "recovered", Tick: last.tick})
	return nil
}

// flippedByte inverts a bit in the records of a block, except the last block.
func (d *drill) flippedByte() error {
	blocks := d.base.blocks
	const rim = 8 // the length of a block and its check
	i := 2 + d.dice.IntN(len(blocks)-3)
	for tried := 0; blocks[i].end-blocks[i-1].end <= 2*rim; i = 2 + d.dice.IntN(len(blocks)-3) {
		if tried++; tried == tries {
			return fmt.Errorf("%w: the file has no block with records", errNoPlace)
		}
	}
	from, to := blocks[i-1].end+rim, blocks[i].end-rim
	at := from + d.dice.Int64N(to-from)
	bit := d.dice.IntN(8)
	file := bytes.Clone(d.base.file)
	file[at] ^= 1 << bit
	f := &fault{"flipped bit in the file", fmt.Sprintf("bit %d of byte %d", bit, at)}
	d.result.add(f, "verify", d.verify(file, d.base.game), clue{What: "corrupt", Tick: blocks[i-1].tick, Byte: blocks[i-1].end})
	return nil
}

// spliced joins the beginning of this match and the end of another one.
func (d *drill) spliced() error {
	again := *d.subject
	if err := again.measure(d.seed + 1); err != nil {
		return fmt.Errorf("%w: %w", errNoPlace, err)
	}
	other, err := again.play(d.seed+1, again.truthful(0))
	if err != nil {
		return err
	}
	blocks := d.base.blocks
	i := 2 + d.dice.IntN(min(len(blocks), len(other.blocks))-4)
	file := append(bytes.Clone(d.base.file[:blocks[i].end]), other.file[other.blocks[i].end:]...)
	f := &fault{"end of another match", fmt.Sprintf("from byte %d on", blocks[i].end)}
	d.result.add(f, "verify", d.verify(file, d.base.game), clue{What: "corrupt", Tick: blocks[i].tick, Byte: blocks[i].end})
	return nil
}

// forged writes the base with another frame, simulates the match with it, and runs
// verify and diff.
func (d *drill) forged(f *fault, frame lockstep.Frame, who lockstep.Player) error {
	file, err := rewritten(d.base.file, func(r *record.Record) bool {
		if len(r.Frame.Commands) > 0 && r.Tick == frame.Tick {
			r.Frame = CloneFrame(&frame) // the Reader reuses its memory
		}
		return true
	})
	if err != nil {
		return err
	}
	forged := *d.base
	forged.frames = append([]lockstep.Frame{}, d.base.frames...)
	forged.frames[frame.Tick] = frame
	states, err := forged.rerun(d.base.game, frame.Tick-1, d.subject.ticks)
	if err != nil {
		return fmt.Errorf("%w: the match ends with an error: %w", errNoPlace, err)
	}
	check, err := firstDiffering(d.base.states, states, d.subject.checks())
	if err != nil {
		return err
	}
	d.result.add(f, "verify", d.verify(file, d.base.game), clue{What: "desync", Tick: check, Who: "the build"})
	return d.compare(f, file, clue{What: "commands", Tick: frame.Tick, Who: player(who)})
}

// compare runs diff on the base and a file. It must find the tick of the first commands
// that differ, and their player.
func (d *drill) compare(f *fault, file []byte, want clue) error {
	a, b, err := openBoth(d.base.file, file)
	if err != nil {
		return err
	}
	found, err := d.tools.Compare(a, b)
	if err != nil {
		return err
	}
	var got clue
	if found.Frame != nil {
		got = clue{What: "commands", Tick: found.Frame.Tick}
		for i, c := range found.Frame.A {
			if i == len(found.Frame.B) || !sameCommand(&c, &found.Frame.B[i]) {
				got.Who = player(c.Player)
				break
			}
		}
	}
	d.result.add(f, "diff", got, want)
	return nil
}

func sameCommand(a, b *lockstep.Command) bool {
	return record.Compare(a, b) == 0 && a.Kind == b.Kind && bytes.Equal(a.Payload, b.Payload)
}

// editedCommand inverts a bit of a command and repairs all checks of the file.
func (d *drill) editedCommand() error {
	return d.forge("edited command, checks repaired", func(commands []lockstep.Command, at int) []lockstep.Command {
		if c := &commands[at]; !d.subject.alter(d.dice, c.Kind, c.Payload) {
			return nil
		}
		return commands
	})
}

// removedCommand removes a command and repairs all checks of the file.
func (d *drill) removedCommand() error {
	return d.forge("removed command, checks repaired", func(commands []lockstep.Command, at int) []lockstep.Command {
		return append(commands[:at:at], commands[at+1:]...)
	})
}

// forge draws a command whose change changes the match, and changes it.
func (d *drill) forge(name string, change func([]lockstep.Command, int) []lockstep.Command) error {
	for range tries {
		t, at, ok := d.base.command(d.dice)
		if !ok {
			continue
		}
		frame := CloneFrame(&d.base.frames[t])
		who, naming := frame.Commands[at].Player, d.base.naming(t, at)
		if frame.Commands = change(frame.Commands, at); frame.Commands == nil {
			continue
		}
		if d.base.noticeable(d.base.otherCommands(t, func([]lockstep.Command) []lockstep.Command { return decoded(d.base.game, frame.Commands) }), t) {
			return d.forged(&fault{name, naming}, frame, who)
		}
	}
	return fmt.Errorf("%w: no such change of a command changes the match up to the next check", errNoPlace)
}

// decoded returns commands with their values.
func decoded(g *lockstep.Game, commands []lockstep.Command) []lockstep.Command {
	all := append([]lockstep.Command{}, commands...)
	for i := range all {
		if err := g.NewPayloads().Decode(&all[i]); err != nil {
			panic(err) // it is of the match, or Encode made it
		}
	}
	return all
}

// editedChecksum changes one checksum and repairs all checks of the file.
func (d *drill) editedChecksum() error {
	every := d.subject.checks()
	t := every * lockstep.Tick(1+d.dice.IntN(int(d.subject.ticks/every)))
	file, err := rewritten(d.base.file, func(r *record.Record) bool {
		if r.Kind == record.KindChecksum && r.Tick == t {
			r.Hash ^= 1 << d.dice.IntN(64)
		}
		return true
	})
	if err != nil {
		return err
	}
	f := &fault{"edited checksum, checks repaired", fmt.Sprintf("of tick %d", t)}
	d.result.add(f, "verify", d.verify(file, d.base.game), clue{What: "desync", Tick: t, Who: "the build"})
	return nil
}

// falseKeyframe changes the state and the checksum of a keyframe, in a file with a keyframe every keyframeEvery ticks.
func (d *drill) falseKeyframe() error {
	keyframeEvery := min(100, d.subject.ticks/2)
	t := keyframeEvery * lockstep.Tick(1+d.dice.IntN(max(1, int(d.subject.ticks/keyframeEvery)-1)))
	path, changed := d.runnable(t)
	if path == "" {
		return fmt.Errorf("%w: every change ends the match with an error", errNoPlace)
	}
	r, err := open(d.base.file)
	if err != nil {
		return err
	}
	var keyed bytes.Buffer
	if err := replay.Rekey(replay.NewWriter(&keyed, replay.WriterOptions{}), r, d.base.game, keyframeEvery, replay.SimulateOptions{}); err != nil {
		return err
	}
	file, err := rewritten(keyed.Bytes(), func(r *record.Record) bool {
		if r.Kind == record.KindKeyframe && r.Tick == t {
			r.Keyframe.State, r.Keyframe.Hash = changed, d.base.hash(changed)
		}
		return true
	})
	if err != nil {
		return err
	}
	f := &fault{"false keyframe, checks repaired", fmt.Sprintf("%s in tick %d", path, t)}
	d.result.add(f, "verify", d.verify(file, d.base.game), clue{What: "desync", Tick: t, Who: "the keyframe"})
	return nil
}

// runnable returns the state of a tick with one field changed, from which the match goes
// on without an error, and the field's path.
func (d *drill) runnable(t lockstep.Tick) (path string, b []byte) {
	for range tries {
		changed := *d.base
		changed.states = slices.Clone(d.base.states)
		b := bytes.Clone(changed.states[t])
		path := d.base.draw(d.dice, t, flippable)
		v, err := d.base.game.StateSchema().Lookup(b, path)
		if err != nil || !v.Flip() {
			return "", nil
		}
		changed.states[t] = b
		if _, err := changed.rerun(d.base.game, t, d.subject.ticks); err == nil {
			return path, b
		}
	}
	return "", nil
}

// otherHeader writes the base with a changed header.
func (d *drill) otherHeader(f *fault, change func(*lockstep.Header), field string) error {
	file, err := rewritten(d.base.file, func(r *record.Record) bool {
		if r.Kind == record.KindHeader {
			change(r.Header)
		}
		return true
	})
	if err != nil {
		return err
	}
	d.result.add(f, "verify", d.verify(file, d.base.game), clue{What: "other game", Field: field})
	return nil
}

func (d *drill) otherBuild() error {
	return d.otherHeader(&fault{"wrong build", "in the header"}, func(h *lockstep.Header) { h.Build += "b" }, "build")
}

// otherSchema renames a field of the state in the header.
func (d *drill) otherSchema() error {
	schema := d.base.game.StateSchema()
	node, at := named(schema.Root(), 4)
	f := &fault{"another state", node.Path() + " has another name"}
	return d.otherHeader(f, func(h *lockstep.Header) {
		renamed := slices.Insert(bytes.Clone(h.StateSchema), at+nodeBytes+len(node.Name()), 'x')
		binary.LittleEndian.PutUint32(renamed[at+nodeBytes-4:], uint32(len(node.Name())+1))
		h.StateSchema = renamed
	}, "state schema, field "+node.Path())
}

// nodeBytes is the size of a node of a schema's description before its name.
const nodeBytes = 10

// named returns the first field at or below a node that has no fields itself, and its
// offset in the description of the schema.
func named(n state.Node, at int) (state.Node, int) {
	for n.Kind() == state.Struct || n.Kind() > state.String && n.Elem().Kind() == state.Struct {
		at += nodeBytes + len(n.Name())
		if n.Kind() == state.Struct {
			n = n.Field(0)
		} else {
			n = n.Elem()
		}
	}
	return n, at
}

// otherRules verifies a right replay with rules that changed without a new build.
func (d *drill) otherRules() error {
	v, err := plant(d.base, d.dice, changedRule)
	if err != nil {
		return err
	}
	f := &fault{"rules that changed without a new build", v.what}
	d.result.add(f, "verify", d.verify(d.base.file, v.game), clue{What: "desync", Tick: d.subject.nextCheck(v.tick), Who: "the build"})
	return nil
}
