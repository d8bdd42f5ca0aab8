package state

// AppendPrints appends the print of each section of v, in order, and returns the size of v in canonical bytes. A print tells two values of
// a section apart, several times as fast as the sums of package checksum, which records have. It begins with 0, and takes the section's
// canonical bytes in blocks of [PrintBlock], of which the last may be shorter:
//
//	print = (print XOR XXH3-64 of the block, seed 0) * 0x9e3779b97f4a7c15 modulo 2^64
//	print = print XOR print >> 32
//
// It is the same on every machine.
func (c *Codec[T]) AppendPrints(dst []uint64, v *T) (prints []uint64, sizeBytes int) {
	return c.engine.appendPrints(dst, refOf(v))
}

// AppendPrints is [Codec.AppendPrints] of the state with canonical bytes b. Other bytes are a [*DecodeError].
func (s *Schema) AppendPrints(dst []uint64, b []byte) ([]uint64, error) {
	var buf [64][]byte
	parts, err := s.Split(buf[:0], b)
	if err != nil {
		return dst, err
	}
	for _, part := range parts {
		dst = append(dst, printOf(part))
	}
	return dst, nil
}
