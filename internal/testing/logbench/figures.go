package logbench

import (
	"bytes"
	"fmt"
	"os"

	"github.com/cespare/xxhash/v2"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// Figures lists all figures.
var Figures = []Figure{
	{
		Name: "lockstep tax, 10,000 units", Beside: "a bare loop of Step", Limit: 1.10,
		sides: func() (*sides, error) { return tax(10_000) },
	},
	{
		Name: "lockstep tax, 1,000 units", Beside: "a bare loop of Step",
		sides: func() (*sides, error) { return tax(1000) },
	},
	{
		Name: "verify, 10,000 units", Beside: "a bare loop of Step", Limit: 1.15,
		sides: func() (*sides, error) { return verify(10_000) },
	},
	{
		Name: "Step of a unit among 10,000", Beside: "Step of a unit among 1,000", Limit: 1.5,
		sides: crowding,
	},
	{
		Name: "checksum, 10,000 units", Beside: "one xxHash64 of the same bytes", Limit: 1.15,
		sides: func() (*sides, error) {
			return beside(func(p *pieces) { checksum.Of(&p.sum, p.codec, &p.world) }, func(p *pieces) { p.hash += xxhash.Sum64(p.bytes) })
		},
	},
	{
		Name: "snapshot, 10,000 units", Beside: "copy of the same bytes", Limit: 1.5,
		sides: func() (*sides, error) {
			return beside(func(p *pieces) { p.buf = p.codec.Append(p.buf[:0], &p.world) }, (*pieces).copy)
		},
	},
	{
		Name: "Copy of 10,000 units", Beside: "copy of the same bytes", Limit: 1.5,
		sides: func() (*sides, error) {
			return beside(func(p *pieces) { p.codec.Copy(&p.other, &p.world) }, (*pieces).copy)
		},
	},
}

// taxTicks is the number of ticks in a part.
const taxTicks = 2

// tax compares a follower and a writer of a file with the bare loop. The follower
// decodes, orders and runs each tick, and compares its checksum with the log's.
func tax(units uint16) (*sides, error) {
	b, err := newBattle(units, 1)
	if err != nil {
		return nil, err
	}
	var (
		follower *lockstep.Follower
		writer   *replay.Writer
		w        skirmish.World
	)
	file, err := tempFile()
	if err != nil {
		return nil, err
	}
	feed := func(from, to int) error {
		for _, record := range b.records[from:to] {
			if err := writer.Append(record); err != nil {
				return err
			}
			if err := follower.Append(record); err != nil {
				return err
			}
		}
		return nil
	}
	return &sides{
		parts: battleTicks / taxTicks,
		reset: func() error {
			if _, err := file.Seek(0, 0); err != nil {
				return err
			}
			follower = b.game.NewFollower(lockstep.FollowerOptions{History: lockstep.HistoryOptions{EveryTick: true}})
			writer = replay.NewWriter(file, replay.WriterOptions{})
			if err := feed(0, b.ticks[0]); err != nil {
				return err
			}
			return b.bare(&w)
		},
		first: func(part int) error {
			return feed(b.ticks[part*taxTicks], b.ticks[(part+1)*taxTicks])
		},
		second: func(part int) error {
			b.step(&w, part*taxTicks, (part+1)*taxTicks)
			return nil
		},
	}, nil
}

// tempFile returns a file without a name, which exists until it is closed.
func tempFile() (*os.File, error) {
	file, err := os.CreateTemp("", "samestep-bench-*.ssr")
	if err == nil {
		err = os.Remove(file.Name())
	}
	return file, err
}

// verify compares the verification of a replay in memory with the bare loop.
func verify(units uint16) (*sides, error) {
	b, err := newBattle(units, lockstep.DefaultSettings(players).CheckEvery)
	if err != nil {
		return nil, err
	}
	var file bytes.Buffer
	writer := replay.NewWriter(&file, replay.WriterOptions{})
	for _, record := range b.records {
		if err := writer.Append(record); err != nil {
			return nil, err
		}
	}
	if err := writer.Close(); err != nil {
		return nil, err
	}
	return &sides{
		parts: 1,
		reset: func() error { return nil },
		first: func(int) error {
			v, err := verifyReplay(b.game, file.Bytes(), 0)
			if err == nil && (v.Ticks != b.base+battleTicks || v.Checked != 1+battleTicks/20) {
				err = fmt.Errorf("logbench: got verdict %+v", v)
			}
			return err
		},
		second: func(int) error {
			var w skirmish.World // a new one, as in a verification
			if err := b.bare(&w); err != nil {
				return err
			}
			b.step(&w, 0, battleTicks)
			return nil
		},
	}, nil
}

// crowding compares the bare loop of 10,000 units with ten loops of 1,000 units.
func crowding() (*sides, error) {
	many, err := newBattle(10_000, 1)
	if err != nil {
		return nil, err
	}
	few, err := newBattle(1000, 1)
	if err != nil {
		return nil, err
	}
	var (
		manyWorld skirmish.World
		fewWorlds [10]skirmish.World
	)
	return &sides{
		parts: battleTicks / taxTicks,
		reset: func() error {
			for i := range fewWorlds {
				if err := few.bare(&fewWorlds[i]); err != nil {
					return err
				}
			}
			return many.bare(&manyWorld)
		},
		first: func(part int) error {
			many.step(&manyWorld, part*taxTicks, (part+1)*taxTicks)
			return nil
		},
		second: func(part int) error {
			for i := range fewWorlds {
				few.step(&fewWorlds[i], part*taxTicks, (part+1)*taxTicks)
			}
			return nil
		},
	}, nil
}
