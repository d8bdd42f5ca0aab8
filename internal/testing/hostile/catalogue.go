package hostile

import "strings"

// A Module is one of the catalogue.
type Module struct {
	Name  string
	About string // what it does to a host without bounds
	make  func() module
}

// Bytes returns the module, which does harm in each tick if it is compiled.
func (m *Module) Bytes() []byte { return m.make().bytes() }

// AtOnce returns one that does the same harm before it tells what it is.
func (m *Module) AtOnce() []byte {
	at := m.make()
	at.describe = join(at.describe, counted(64, []byte{call, 3}))
	if at.saved != 0 {
		at.described = at.saved
	}
	return at.bytes()
}

// Catalogue lists the modules.
var Catalogue = []Module{
	{"loops", "nested loops over thousands of local variables: gigabytes and minutes to compile", loops},
	{"labels", "tables of labels out of many blocks over local variables, likewise", labels},
	{"operands", "blocks that pass a hundred values on to each other, likewise", operands},
	{"functions", "many functions, each just within the limits: minutes to compile", functions},
	{"divisions", "functions of divisions, each of which may trap: gigabytes to compile", divisions},
	{"start", "a start that never ends", start},
	{"forever", "a description that is never given", forever},
	{"passes", "each tick takes almost all passes that a call has", passes},
	{"grow", "the memory grows in each tick, and all of it is written", grow},
	{"wide", "a segment of data at the end of a memory of a gigabyte", wide},
	{"deep", "a recursion without an end, with large frames", deep},
	{"tables", "tables of the largest size, filled in each tick", tables},
	{"answers", "the largest answer for each state", answers},
	{"storm", "each tick leaves the code for the host as often as it can", storm},
	{"schema", "a description that unfolds to a type of millions of fields", schema},
}

// Harmless returns a module that does no harm.
func Harmless() []byte { return module{}.bytes() }

// Parting returns a module whose ticks come out differently in a new instance, and call so many functions that a trace of them takes
// minutes. It is none of the catalogue, because it takes no longer than others untraced.
func Parting() []byte {
	const ticks, calls = 64, 20_000_000
	count := join(number(ticks), number(ticks), []byte{i64Load, 3, 0}, long(1), []byte{i64Add, i64Store, 3, 0})
	m := module{locals: variables(1, i32), harm: join(count, counted(calls, []byte{call, 4})), saved: packed(ticks, 8)}
	m.more = []function{{kind: 2}}
	return m.bytes()
}

// Named returns a module of the catalogue, or nil.
func Named(name string) *Module {
	for i := range Catalogue {
		if Catalogue[i].Name == name {
			return &Catalogue[i]
		}
	}
	return nil
}

// increments adds 1 to each of n variables.
func increments(n int) (code []byte) {
	for v := range n {
		code = append(code, join([]byte{localGet}, unsigned(v), long(1), []byte{i64Add, localSet}, unsigned(v))...)
	}
	return code
}

func loops() module {
	const depth, values = 3000, 2000
	return module{
		locals: variables(values, i64),
		harm:   join(repeat(depth, loop, none), increments(values), repeat(depth, end)),
	}
}

func labels() module {
	const depth, values = 2500, 1000
	table := join([]byte{localGet}, unsigned(0), []byte{0xa7, brTable}, unsigned(depth-1)) // i32.wrap_i64
	for l := range depth {
		table = append(table, unsigned(l)...)
	}
	code := repeat(depth, block, none)
	code = append(code, table...)
	for range depth {
		code = append(code, end)
		code = append(code, increments(1)...)
	}
	return module{locals: variables(values, i64), harm: code}
}

func operands() module {
	const depth, values = 4000, 120
	kind := signature(repeat(values, i64), repeat(8, i64))
	code := repeat(values, i64Const, 1)
	for range depth {
		code = append(code, block, 3)                         // of the last type
		code = append(code, repeat(values-8, i64Add)...)      // 8 are left
		code = append(code, end)                              // with 8 results
		code = append(code, repeat(values-8, i64Const, 1)...) // as many as before
	}
	code = append(code, repeat(values, drop)...)
	return module{types: [][]byte{kind}, harm: code}
}

func functions() module {
	const copies, depth, values = 160, 370, 255
	code := join(repeat(depth, loop, none), increments(values), repeatAll(depth, []byte{localGet, 0, wrap, brIf, 0, end}))
	m := module{}
	for range copies {
		m.more = append(m.more, function{2, variables(values, i64), code})
	}
	return m
}

func divisions() module {
	const values = 60
	var code []byte
	for v := range 37_000 {
		code = append(code, localGet, byte(v%values), localGet, byte((v*7+1)%values), divide, localSet, byte((v*3+2)%values))
	}
	m := module{locals: variables(values, i64), harm: code}
	for range 20 {
		m.more = append(m.more, function{2, m.locals, code})
	}
	return m
}

var endless = []byte{loop, none, br, 0, end}

func start() module { return module{start: true, initialize: endless} }

func forever() module { return module{describe: endless} }

// counted is a loop of n passes around code. It uses variable 0.
func counted(n int64, code []byte) []byte {
	return join(number(n), []byte{localSet, 0, loop, none}, code, []byte{localGet, 0}, number(1), []byte{i32Sub, localTee, 0, brIf, 0, end})
}

func passes() module {
	return module{locals: variables(1, i32), harm: counted(990_000_000, nil)}
}

func grow() module {
	const pages = 256
	more := join(number(pages), []byte{memoryGrow, 0, localTee, 0}, number(-1), []byte{i32Eq, ifOp, none, ret, end},
		[]byte{localGet, 0}, number(16), []byte{0x74, localSet, 0}, // i32.shl
		[]byte{localGet, 0}, number(1), number(pages<<16), []byte{bulk, 11, 0}) // memory.fill
	return module{locals: variables(1, i32), harm: more}
}

func wide() module {
	const last = 1<<30 - 8
	return module{memory: join([]byte{0}, unsigned(1<<14)), data: [][]byte{dataAt(last, []byte("hostile!"))}, harm: join(number(buffer), number(1), number(last-buffer), []byte{bulk, 11, 0})}
}

func deep() module {
	const values = 1000
	return module{
		harm: []byte{call, 4},
		more: []function{{2, variables(values, i64), join(increments(values), []byte{call, 4}, increments(values))}},
	}
}

func tables() module {
	const n = 1 << 18
	m := module{elements: [][]byte{join([]byte{0}, number(0), []byte{end}, list(repeatAll2(1000, unsigned(3))...))}}
	for t := range 8 {
		m.tables = append(m.tables, join([]byte{0x70, 1}, unsigned(n), unsigned(n)))
		m.harm = append(m.harm, join(number(0), []byte{0xd2, 3}, number(n), []byte{bulk, 17}, unsigned(t))...) // ref.func, table.fill
	}
	m.locals, m.harm = variables(1, i32), counted(1<<20, m.harm)
	return m
}

func repeatAll2(n int, item []byte) (all [][]byte) {
	for range n {
		all = append(all, item)
	}
	return all
}

func answers() module {
	const size = 64 << 20
	return module{memory: join([]byte{0}, unsigned(1100)), saved: packed(zeros, size)}
}

func storm() module {
	return module{locals: variables(1, i32), harm: counted(900_000_000, []byte{i32Const, 0, memoryGrow, 0, drop})}
}

func schema() module {
	kind := "uint8"
	for range 12 {
		kind = "struct { A, B, C, D " + kind + " }"
	}
	return module{memory: []byte{0, 4}, text: strings.Replace(description, "struct { A uint64 }", kind, 1)}
}
