package lockstep

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
)

// CheckIdentity returns an [*IdentityError] that names the first thing in which a match with header h is not one of
// this game.
func (g *Game) CheckIdentity(h *Header) error { return h.CheckIdentity(g.expect()) }

// CommandFingerprint returns the xxHash64 of the descriptions of all kinds of commands. Two games whose commands have
// the same bytes have the same one.
func (g *Game) CommandFingerprint() uint64 {
	var b []byte
	for _, d := range g.kinds.Descriptions() {
		b = binary.LittleEndian.AppendUint16(b, uint16(d.Kind))
		b = binary.LittleEndian.AppendUint32(b, uint32(len(d.Name)))
		b = append(b, d.Name...)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(d.Schema)))
		b = append(b, d.Schema...)
	}
	//samestep:allow unseen xxHash64 is the same function in assembly and in Go
	return xxhash.Sum64(b)
}
