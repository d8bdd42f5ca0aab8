package server

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"io"
	"os"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
)

// settle completes the settings of a new match: it takes those of the match in whose state it begins, or draws a seed.
func (spec *MatchSpec) settle() {
	if spec.From != nil {
		if spec.Settings == (lockstep.Settings{}) {
			spec.Settings = spec.From.Header.Settings
		}
		spec.Settings.Relay = false // its host decides that
		return
	}
	for spec.Settings.Seed == 0 {
		var b [8]byte
		rand.Read(b[:])
		spec.Settings.Seed = binary.LittleEndian.Uint64(b[:])
	}
}

// header returns the header of a match.
func (spec *MatchSpec) header(id lockstep.MatchID) (*lockstep.Header, error) {
	from := spec.From
	if from == nil || spec.Config != nil {
		return spec.Game.NewHeader(id, spec.Settings, spec.Config)
	}
	h := *from.Header
	h.Match, h.Settings, h.Platform = id, spec.Settings, lockstep.Platform()
	h.Sources = spec.Game.Sources().TextAfter(h.Platform)
	return &h, spec.Game.CheckIdentity(&h)
}

// newHost returns the host of a match that begins: at tick 0, or in the state of another match.
func (m *Match) newHost(h *lockstep.Header) (*host.Host, error) {
	from := m.spec.From
	if from == nil {
		if m.spec.Players != nil {
			return nil, errors.New("server: got players with seats, want them only for a match that begins in the state of another one")
		}
		return host.New(m.spec.Game, h, m.hostOptions())
	}
	x, err := from.Recovery.Begin(m.now(), h, host.Origin{Lineage: from.Lineage, Players: m.spec.Players}, m.hostOptions())
	if err != nil {
		return nil, err
	}
	m.holds.Await(m.now() + lockstep.Time(m.server.options.AwaitPlayers.Microseconds()))
	return x, nil
}

// copyToTemporary returns a file without a name that has the bytes of r.
func copyToTemporary(r io.Reader) (*os.File, error) {
	f, err := newTemporary("")
	if err != nil {
		return nil, err
	}
	if _, err := io.Copy(f, r); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// newTemporary returns a file without a name in a folder, or in the system's.
func newTemporary(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, ".samestep-*")
	if err == nil {
		os.Remove(f.Name()) // so nothing is left over, however the program ends; Windows refuses it
	}
	return f, err
}
