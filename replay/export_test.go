package replay

import "encoding/binary"

// Resign appends the block of a signature to a file, which must not be sealed.
func Resign(file, body []byte) []byte {
	block := append(appendBlockHeader(nil, blockSignature, len(body)), body...)
	before := binary.LittleEndian.Uint64(file[len(file)-checkSize:])
	file = append(append([]byte{}, file...), block...)
	return binary.LittleEndian.AppendUint64(file, checkBlock(before, block))
}
