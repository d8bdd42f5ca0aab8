package logbench

import (
	"bytes"
	"fmt"
	"os"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// Figures lists all figures of a war in skirmish.
var Figures = slices.Concat(
	[]Figure{taxOf(func() *Subject { return War(10_000) }, ", 10,000 units", 1.10)},
	[]Figure{taxOf(func() *Subject { return War(1000) }, ", 1,000 units", 0)},
	[]Figure{flightOf(func() *Subject { return War(1000) }, ", 1,000 units", 1.02)},
	[]Figure{heavyOf(func() *Subject { return longWar(1000) }, ", 1,000 units")},
	[]Figure{verifyOf(func() *Subject { return War(10_000) }, ", 10,000 units", 1.15)},
	[]Figure{{
		Name: "Step of a unit among 10,000", Beside: "Step of a unit among 1,000", Limit: 1.5,
		sides: crowding,
	}},
	piecesOf(func() *Subject { return War(10_000) }, " 10,000 units", 1.15, 1.5),
)

// FiguresOf lists the figures that any game has. Its match decides how large they are, so
// they have no limits.
func FiguresOf(s *Subject) []Figure {
	of := func() *Subject { return s }
	return slices.Concat([]Figure{taxOf(of, "", 0), flightOf(of, "", 0), heavyOf(of, ""), verifyOf(of, "", 0)}, piecesOf(of, " the state", 0, 0))
}

func taxOf(of func() *Subject, size string, limit float64) Figure {
	return Figure{Name: "lockstep tax" + size, Beside: "a bare loop of Step", Limit: limit, sides: func() (*sides, error) { return tax(of()) }}
}

func flightOf(of func() *Subject, size string, limit float64) Figure {
	return Figure{Name: "flight record" + size, Beside: "the same ticks without", Limit: limit, sides: func() (*sides, error) { return flown(of()) }}
}

func heavyOf(of func() *Subject, size string) Figure {
	return Figure{Name: fmt.Sprintf("heavy mode at %d %%%s", heavyPercent, size), Beside: "the same ticks without", sides: func() (*sides, error) { return heavy(of()) }}
}

func verifyOf(of func() *Subject, size string, limit float64) Figure {
	return Figure{Name: "verify" + size, Beside: "a bare loop of Step", Limit: limit, sides: func() (*sides, error) { return verify(of()) }}
}

func piecesOf(of func() *Subject, what string, hash, moved float64) []Figure {
	figure := func(name, beneath string, limit float64, first, second func(*pieces)) Figure {
		return Figure{Name: name + what, Beside: beneath + " of the same bytes", Limit: limit, sides: func() (*sides, error) { return beside(of(), first, second) }}
	}
	return []Figure{
		figure("checksum,", "one xxHash64", hash, func(p *pieces) { p.Checksum(&p.sum) }, func(p *pieces) { p.hash += xxhash.Sum64(p.bytes) }),
		figure("snapshot,", "copy", moved, func(p *pieces) { p.buf = p.Append(p.buf[:0]) }, (*pieces).copy),
		figure("Copy of", "copy", moved, func(p *pieces) { p.Copy() }, (*pieces).copy),
	}
}

// tax compares a follower and a writer of a file with the bare loop. The follower
// decodes, orders and runs each tick, and compares its checksum with the log's.
func tax(s *Subject) (*sides, error) {
	b, err := newBattle(s, 1)
	if err != nil {
		return nil, err
	}
	var (
		follower *lockstep.Follower
		writer   *replay.Writer
		loop     = b.Loop()
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
	n := int(b.Part)
	return &sides{
		measured: b.measured(),
		parts:    b.parts(),
		reset: func() error {
			if _, err := file.Seek(0, 0); err != nil {
				return err
			}
			follower = b.Game.NewFollower(lockstep.FollowerOptions{History: lockstep.HistoryOptions{EveryTick: true}})
			writer = replay.NewWriter(file, replay.WriterOptions{})
			if err := feed(0, b.ends[0]); err != nil {
				return err
			}
			return b.bare(loop)
		},
		first: func(part int) error {
			return feed(b.ends[part*n], b.ends[(part+1)*n])
		},
		second: func(part int) error {
			b.step(loop, part)
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
func verify(s *Subject) (*sides, error) {
	checkEvery := lockstep.DefaultSettings(s.Players).CheckEvery
	b, err := newBattle(s, checkEvery)
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
	checks := int(b.Ticks+b.WarmUp)/int(checkEvery) - int(b.WarmUp)/int(checkEvery)
	return &sides{
		measured: b.measured(),
		parts:    1,
		reset:    func() error { return nil },
		first: func(int) error {
			v, err := verifyReplay(b.Game, file.Bytes(), 0)
			if err == nil && (v.Ticks != b.base+b.Ticks || v.Checked != 1+checks) {
				err = fmt.Errorf("logbench: got verdict %+v, want %d checks", v, 1+checks)
			}
			return err
		},
		second: func(int) error {
			loop := b.Loop() // a new one, as in a verification
			if err := b.bare(loop); err != nil {
				return err
			}
			for part := range b.parts() {
				b.step(loop, part)
			}
			return nil
		},
	}, nil
}

// crowding compares the bare loop of 10,000 units with ten loops of 1,000 units.
func crowding() (*sides, error) {
	many, err := newBattle(War(10_000), 1)
	if err != nil {
		return nil, err
	}
	few, err := newBattle(War(1000), 1)
	if err != nil {
		return nil, err
	}
	var fewLoops [10]Loop
	manyLoop := many.Loop()
	for i := range fewLoops {
		fewLoops[i] = few.Loop()
	}
	return &sides{
		measured: many.measured() + "; " + few.measured(),
		parts:    many.parts(),
		reset: func() error {
			for _, l := range fewLoops {
				if err := few.bare(l); err != nil {
					return err
				}
			}
			return many.bare(manyLoop)
		},
		first: func(part int) error {
			many.step(manyLoop, part)
			return nil
		},
		second: func(part int) error {
			for _, l := range fewLoops {
				few.step(l, part)
			}
			return nil
		},
	}, nil
}
