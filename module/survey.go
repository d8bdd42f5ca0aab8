package module

// survey reads the body of a function, and checks its limits. It refuses instructions that refer to what guard adds.
func (g *guarded) survey(r *reader, t functionType) (of survey) {
	size := len(r.rest)
	if size > maxBody {
		r.fail("%w: got %d bytes of code, want at most %d", ErrLimit, size, maxBody)
	}
	fixed := len(t.parameters) + r.locals()
	h := height{types: g.kinds, functions: g.typed}
	branches, live, branched := 0, int64(0), false
	for len(r.rest) > 0 {
		at := r.rest
		op := r.byte()
		r.immediates(op)
		if r.err != nil {
			return of
		}
		i := instruction(at[:len(at)-len(r.rest)])
		g.refuse(r, i)
		n := branchesOf(i)
		branches += n
		h.next(i)
		live += int64(n) * int64(fixed+h.now)
		of.calls = of.calls || op == opCall || op == opCallIndirect
		branched = branched || of.calls || op >= opBr && op <= opReturn || op == opIf
		of.looped = of.looped || op == opLoop && !branched
		g.hidden = g.hidden || changesTables(i)
	}
	values := fixed + h.most
	of.frame = 1 + values/frameValues + size/frameCode
	g.slots += fixed
	g.work += branches * branches
	g.live += live
	for _, l := range []struct {
		got, most int64
		what      string
	}{
		{int64(values), maxValues, "local variables and operands"},
		{int64(g.slots), maxAllLocals, "local variables of all functions"},
		{int64(branches), maxBranches, "branches"},
		{int64(g.work), maxWork, "squares of branches"},
		{live, maxLive, "values at branches"},
		{g.live, maxAllLive, "values at branches of all functions"},
	} {
		if l.got > l.most {
			r.fail("%w: got %d %s, want at most %d", ErrLimit, l.got, l.what, l.most)
		}
	}
	return of
}

// refuse fails for an instruction that refers to what guard adds.
func (g *guarded) refuse(r *reader, i instruction) {
	next := &reader{rest: i[1:]}
	switch i.op() {
	case opCall, opRefFunc:
		next.below("function", g.functions)
	case opGlobalGet, opGlobalSet:
		next.below("variable", g.stop)
	}
	if next.err != nil {
		r.fail("%w", next.err)
	}
}
