package recorder

// Observe records a state as a player has it: the FNV-1a sums of its bytes and of each of its fields, and the state itself if it is
// wanted. v is a pointer to the struct of the schema, whose [Schema.Fields] are the header's sections. It allocates nothing.
func (r *Recorder) Observe(tick uint32, player uint8, s *Schema, v any) {
	if r.lines.err != nil {
		return
	}
	const start, prime = 0xcbf29ce484222325, 0x100000001b3
	all := uint64(start)
	r.observed, r.sectionSums = r.observed[:0], r.sectionSums[:0]
	for i := range s.root.fields {
		from, section := len(r.observed), uint64(start)
		r.observed = s.AppendField(r.observed, v, i)
		for _, c := range r.observed[from:] {
			all, section = (all^uint64(c))*prime, (section^uint64(c))*prime
		}
		r.sectionSums = append(r.sectionSums, section)
	}
	r.Sum(tick, player, all, r.sectionSums...)
	if r.Wanted(tick) {
		r.State(tick, player, r.observed)
	}
}
