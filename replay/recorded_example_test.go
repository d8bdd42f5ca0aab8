package replay_test

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/seed-49bee653/samestep/internal/nullgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// foreignFile returns a recording of another engine as samestep replay import writes it: of the lines, and of three ticks.
func foreignFile(lines ...string) ([]byte, error) {
	g := nullgame.New()
	h, err := g.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(2), &nullgame.Config{})
	if err != nil {
		return nil, err
	}
	sim, err := g.NewSimulation(h)
	if err != nil {
		return nil, err
	}
	h.Engine = replay.ForeignEngine
	var file bytes.Buffer
	w := replay.NewWriter(&file, replay.WriterOptions{})
	var enc record.Encoder
	w.Append(enc.Header(h))
	w.Append(enc.Keyframe(0, sim.Hash(), nil, sim.AppendState(nil)))
	for _, line := range lines {
		w.Append(enc.Foreign([]byte(line)))
	}
	for t := lockstep.Tick(1); t <= 3; t++ {
		w.Append(enc.Frame(&lockstep.Frame{Tick: t}))
		w.Append(enc.Checksum(t, 0xab00+uint64(t)))
	}
	w.Append(enc.End("imported"))
	err = w.Close()
	return file.Bytes(), err
}

// A recording of another engine has the states that were recorded, and no others.
func ExampleRecordedAt() {
	file, err := foreignFile(
		`{"log":1,"title":"Floaty","tick_rate_hz":60,"players":2,"by":1,"state":"struct { X float32 }"}`,
		`{"t":1,"p":1,"state":"AADAPw=="}`, `{"t":1,"p":0,"state":"AAAAAA=="}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := replay.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := replay.RecordedAt(r, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := m.Show("X"); err != nil {
		fmt.Println(err)
	}
	fmt.Println("player", *m.By, m.Fields)

	_, err = replay.RecordedAt(r, 2)
	var missing *replay.NoStateError
	fmt.Println(errors.As(err, &missing), missing)

	var all replay.Recorded
	if err := replay.Play(r, nil, all.Add); err != nil {
		fmt.Println(err)
	}
	var first replay.RecordedState = all.States[0]
	fmt.Println(all.Type(), all.Ticks(), len(first.State))
	// Output:
	// player 1 [{X 1.5}]
	// true no recorded state at tick 2; the nearest is that of tick 1; to record it, run the game again with SAMESTEP_DUMP=2
	// struct { X float32 } [1] 4
}
