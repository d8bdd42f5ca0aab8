package record

// SelfTestRecords writes a log with the smallest and largest numbers of each size, reads it, and writes it again. It
// gives add each record both times, and reports whether it could read all of them.
func SelfTestRecords(add func(record []byte)) bool {
	var enc, copied Encoder
	dec := Decoder{loose: true}
	header := &Header{Protocol: Protocol, Engine: Engine, Game: "self", Build: "test", Settings: Settings{Seed: 1 << 63, Players: 250, TickMicros: TickPeriod(60), CheckEvery: 300, KeyframeEvery: 70000}}
	frame := &Frame{Tick: 8}
	kinds := [...]CommandKind{0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff}
	for i, size := range []int{0, 1, 127, 128, 255, 256} {
		frame.Commands = append(frame.Commands, Command{Tick: 8, Player: 1, Sequence: 1 + Sequence(i*i*i*i*i*i), Kind: kinds[i], Payload: make([]byte, size)})
	}
	for _, write := range []func(*Encoder) []byte{
		func(e *Encoder) []byte { return e.Header(header) },
		func(e *Encoder) []byte { return e.Keyframe(7, 1<<63, nil, []byte{1, 2, 3}) },
		func(e *Encoder) []byte { return e.Frame(frame) },
	} {
		b := write(&enc)
		add(b)
		r, rest, err := dec.Decode(b)
		if err != nil || len(rest) > 0 {
			return false
		}
		add(copied.Record(r))
	}
	return true
}
