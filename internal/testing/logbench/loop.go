package logbench

import (
	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/state"
)

// A Loop is a game without the engine: one state, and the rules that advance it.
type Loop interface {
	// Begin sets the state from canonical bytes. read is the source of assets.
	Begin(state, config []byte, read func(lockstep.Asset) ([]byte, error)) error
	Step(t *lockstep.Turn)    // with decoded commands
	Append(dst []byte) []byte // the canonical bytes of the state
	Checksum(sum *checksum.Sum)
	Copy() // into another state
}

// NewLoop returns a function that makes loops of a game.
func NewLoop[S, C any](rules lockstep.Rules[S, C]) func() Loop {
	codec, config := state.MustCompile[S](), state.MustCompile[C]()
	return func() Loop { return &loop[S, C]{rules: &rules, codec: codec, configs: config} }
}

type loop[S, C any] struct {
	rules        *lockstep.Rules[S, C]
	codec        *state.Codec[S]
	configs      *state.Codec[C]
	config       C
	world, other S
}

func (l *loop[S, C]) Begin(state, config []byte, read func(lockstep.Asset) ([]byte, error)) error {
	if err := l.configs.Decode(config, &l.config); err != nil {
		return err
	}
	if err := l.load(read); err != nil {
		return err
	}
	if err := l.codec.Decode(state, &l.world); err != nil {
		return err
	}
	if l.rules.Derive != nil {
		l.rules.Derive(&l.world, &l.config)
	}
	return nil
}

func (l *loop[S, C]) load(read func(lockstep.Asset) ([]byte, error)) error {
	if l.rules.Assets == nil {
		return nil
	}
	var contents [][]byte
	for _, a := range l.rules.Assets(&l.config) {
		b, err := read(a)
		if err != nil {
			return err
		}
		contents = append(contents, b)
	}
	if len(contents) == 0 {
		return nil
	}
	return l.rules.Load(&l.config, contents)
}

func (l *loop[S, C]) Step(t *lockstep.Turn) { l.rules.Step(&l.world, &l.config, t) }

func (l *loop[S, C]) Append(dst []byte) []byte { return l.codec.Append(dst, &l.world) }

func (l *loop[S, C]) Checksum(sum *checksum.Sum) { checksum.Of(sum, l.codec, &l.world) }

func (l *loop[S, C]) Copy() { l.codec.Copy(&l.other, &l.world) }
