package conformance

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
)

// fingerprint returns the fingerprint of a schema's description.
func fingerprint(description []byte) uint64 { return xxhash.Sum64(description) }

// commandFingerprint returns the fingerprint of the game's commands.
func commandFingerprint() uint64 {
	var b []byte
	for _, c := range []struct {
		kind   uint16
		name   string
		schema []byte
	}{{kindAdd, "add", addSchema}, {kindSay, "say", saySchema}} {
		b = binary.LittleEndian.AppendUint16(b, c.kind)
		b = append(binary.LittleEndian.AppendUint32(b, uint32(len(c.name))), c.name...)
		b = append(binary.LittleEndian.AppendUint32(b, uint32(len(c.schema))), c.schema...)
	}
	return xxhash.Sum64(b)
}
