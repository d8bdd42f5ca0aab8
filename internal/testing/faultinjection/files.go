package faultinjection

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// fileFaults returns the faults in the replay of a match without faults.
func (d *drill) fileFaults() []func() error {
	return []func() error{
		d.truncated, d.flippedByte, d.spliced, d.editedCommand, d.removedCommand, d.editedChecksum, d.falseKeyframe,
		d.otherBuild, d.otherSchema, d.otherRules,
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
	i := 2 + d.dice.IntN(len(blocks)-3)
	from, to := blocks[i-1].end+8, blocks[i].end-8 // not in its length or its check
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
	other, err := play(d.seed+1, truthful(0))
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
			r.Frame = cloneFrame(&frame) // the Reader reuses its memory
		}
		return true
	})
	if err != nil {
		return err
	}
	forged := *d.base
	forged.frames = append([]lockstep.Frame{}, d.base.frames...)
	forged.frames[frame.Tick] = frame
	states, err := forged.rerun(d.base.game, frame.Tick-1, ticks)
	if err != nil {
		return err
	}
	check, err := firstDiffering(d.base.states, states, checkEvery)
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

// editedCommand changes the target of a command and repairs all checks of the file.
func (d *drill) editedCommand() error {
	return d.forge("edited command, checks repaired", func(commands []lockstep.Command, at int) []lockstep.Command {
		payloads := d.base.game.NewPayloads()
		c := &commands[at]
		if err := payloads.Decode(c); err != nil {
			panic(err) // it was accepted
		}
		to := (*skirmish.Point)(nil)
		switch v := c.Value.(type) {
		case *skirmish.Move:
			to = &v.To
		case *skirmish.AttackMove:
			to = &v.To
		default:
			return nil
		}
		to.X ^= 8
		_, payload, err := payloads.Encode(c.Value)
		if err != nil {
			panic(err) // it was decoded
		}
		c.Payload, c.Value = bytes.Clone(payload), nil
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
		frame := cloneFrame(&d.base.frames[t])
		who, naming := frame.Commands[at].Player, d.base.naming(t, at)
		if frame.Commands = change(frame.Commands, at); frame.Commands == nil {
			continue
		}
		if d.base.noticeable(otherCommands(t, func([]lockstep.Command) []lockstep.Command { return decoded(d.base.game, frame.Commands) }), t) {
			return d.forged(&fault{name, naming}, frame, who)
		}
	}
	return fmt.Errorf("faultinjection: %s: found no place for it in the match of seed %d", name, d.seed)
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
	t := lockstep.Tick(checkEvery * (1 + d.dice.IntN(ticks/checkEvery)))
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

// falseKeyframe changes the state and the checksum of a keyframe.
func (d *drill) falseKeyframe() error {
	t := lockstep.Tick(keyframeEvery * (1 + d.dice.IntN(ticks/keyframeEvery-1)))
	var path string
	file, err := rewritten(d.base.file, func(r *record.Record) bool {
		if r.Kind == record.KindKeyframe && r.Tick == t {
			unit := d.dice.IntN(players) // there are more
			path = fmt.Sprintf("Units[%d].Health", unit)
			v, err := d.base.game.StateSchema().Lookup(r.Keyframe.State, path)
			if err != nil || !v.Flip() {
				panic(errors.Join(errors.New("faultinjection: a match without units"), err))
			}
			r.Keyframe.Hash = d.base.hash(r.Keyframe.State)
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

func (d *drill) otherSchema() error {
	return d.otherHeader(&fault{"another state", "Units[].Health has another name"}, func(h *lockstep.Header) {
		h.StateSchema = bytes.Replace(h.StateSchema, []byte("Health"), []byte("Wealth"), 1)
	}, "state schema, field Units[].Health")
}

// otherRules verifies a right replay with rules that changed without a new build.
func (d *drill) otherRules() error {
	v, err := plant(d.base, d.dice, "changed rules", wrongTable)
	if err != nil {
		return err
	}
	g := lockstep.MustGame(v.rules)
	states, err := d.base.rerun(g, 0, ticks)
	if err != nil {
		return err
	}
	check, err := firstDiffering(d.base.states, states, checkEvery)
	if err != nil {
		return err
	}
	f := &fault{"rules that changed without a new build", v.what}
	d.result.add(f, "verify", d.verify(d.base.file, g), clue{What: "desync", Tick: check, Who: "the build"})
	return nil
}
