package conformance

import (
	"encoding/binary"
	"fmt"
)

// A wasmModule is a module of rules to be written. Its functions are 0 samestep_buffer, 1 samestep_call, 2 _initialize and 3 a start
// function. A body has the code without its end.
type wasmModule struct {
	memory           []byte // the type of the memory
	buffer, call     []byte
	callType         int // the number of its type
	initialize       int // the same
	imports, exports [][]byte
	left             string // an export that is left out
	start            bool
	data             string // at address 2048
}

// Codes of WebAssembly.
const (
	wasmI32, wasmI64, wasmV128 = 0x7f, 0x7e, 0x7b

	wasmUnreachable, wasmLocalGet, wasmI32Const, wasmI64Const, wasmDrop, wasmCall = 0x00, 0x20, 0x41, 0x42, 0x1a, 0x10
)

func sized(b []byte) []byte { return append(binary.AppendUvarint(nil, uint64(len(b))), b...) }

func wasmSection(id byte, items ...[]byte) []byte {
	body := binary.AppendUvarint(nil, uint64(len(items)))
	for _, i := range items {
		body = append(body, i...)
	}
	return append([]byte{id}, sized(body)...)
}

func wasmExport(name string, kind, index byte) []byte {
	return append(sized([]byte(name)), kind, index)
}

// constant returns an instruction with a constant of 64 bits, as signed LEB128 of ten bytes at most.
func constant(op byte, v int64) []byte {
	b := []byte{op}
	for {
		c := byte(v & 0x7f)
		if v >>= 7; v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

// answers returns the code of an answer.
func answers(status, address, size uint64) []byte {
	return constant(wasmI64Const, int64(status<<62|address<<32|size))
}

// dataAt is where the data of a module is.
const dataAt = 2048

// answering returns a module whose every answer is a text.
func answering(status uint64, text string) wasmModule {
	return wasmModule{call: answers(status, dataAt, uint64(len(text))), data: text}
}

func (m wasmModule) bytes() []byte {
	if m.buffer == nil {
		m.buffer = constant(wasmI32Const, 1024)
	}
	if m.memory == nil {
		m.memory = []byte{0, 1} // one page or more
	}
	if m.callType == 0 {
		m.callType = 1
	}
	if m.initialize == 0 {
		m.initialize = 2
	}
	types := [][]byte{
		{0x60, 1, wasmI32, 1, wasmI32}, {0x60, 2, wasmI32, wasmI32, 1, wasmI64}, {0x60, 0, 0},
		{0x60, 2, wasmI32, wasmI64, 1, wasmI64}, {0x60, 1, wasmI32, 0}, {0x60, 1, wasmV128, 0},
	}
	out := append([]byte("\x00asm\x01\x00\x00\x00"), wasmSection(1, types[:5]...)...)
	if m.callType == 5 { // a vector
		out = append([]byte("\x00asm\x01\x00\x00\x00"), wasmSection(1, types...)...)
		m.callType = 1
	}
	if m.imports != nil {
		out = append(out, wasmSection(2, m.imports...)...)
	}
	out = append(out, wasmSection(3, []byte{0}, []byte{byte(m.callType)}, []byte{byte(m.initialize)}, []byte{2})...)
	out = append(out, wasmSection(5, m.memory)...)
	var exports [][]byte
	for i, e := range []string{"samestep_buffer", "samestep_call", "_initialize"} {
		if e != m.left {
			exports = append(exports, wasmExport(e, 0, byte(i)))
		}
	}
	if m.left != "memory" {
		exports = append(exports, wasmExport("memory", 2, 0))
	}
	out = append(out, wasmSection(7, append(exports, m.exports...)...)...)
	if m.start {
		out = append(out, 8, 1, 3)
	}
	body := func(code []byte) []byte { return sized(append(append([]byte{0}, code...), 0x0b)) }
	out = append(out, wasmSection(10, body(m.buffer), body(m.call), body(nil), body(nil))...)
	at := append([]byte{0}, constant(wasmI32Const, dataAt)...)
	return append(out, wasmSection(11, append(append(at, 0x0b), sized([]byte(m.data))...))...)
}

// leastDescription is the shortest description of rules.
const leastDescription = `{"abi":1,"game":"conform","build":"1","state":"struct{}","config":"struct{}","commands":[]}`

// modules are modules of rules; the verdict is that on the file and the answer of Describe.
func modules() []Built {
	c := func(id, verdict, about string, content []byte, rules ...string) Built {
		return Built{Case{ID: id, Kind: "module", File: "module/" + id + ".wasm", Rules: rules, Verdict: verdict, About: about}, content}
	}
	good := answering(0, leastDescription)
	with := func(change func(m *wasmModule)) []byte {
		m := good
		change(&m)
		return m.bytes()
	}
	imported := func(kind ...byte) [][]byte {
		return [][]byte{append(append(sized([]byte("env")), sized([]byte("now"))...), kind...)}
	}
	whole := good.bytes()
	return []Built{
		c("module-least", "ok", "A module that answers Describe, and nothing else.", whole, "A-file", "A-exports", "A-answer"),
		c("module-without-initialize", "ok", "_initialize is optional.", with(func(m *wasmModule) { m.left = "_initialize" }), "A-exports"),
		c("module-other-export", "ok", "Further exports have no meaning.", with(func(m *wasmModule) { m.exports = [][]byte{wasmExport("other", 0, 3)} }), "A-exports"),
		c("module-empty", "malformed", "A file without bytes.", []byte{}, "A-file"),
		c("module-cut", "malformed", "The last byte is missing.", whole[:len(whole)-1], "A-file"),
		c("module-version", "malformed", "Another version of WebAssembly.", append([]byte("\x00asm\x02\x00\x00\x00"), whole[8:]...), "A-file"),
		c("module-import", "imports", "A function is imported.", with(func(m *wasmModule) { m.imports = imported(0, 2) }), "A-file"),
		c("module-import-memory", "imports", "A memory is imported.", with(func(m *wasmModule) { m.imports = imported(2, 0, 1) }), "A-file"),
		c("module-start", "malformed", "A start function.", with(func(m *wasmModule) { m.start = true }), "A-file"),
		c("module-vector", "malformed", "A type with a vector.", with(func(m *wasmModule) { m.callType = 5 }), "A-file"),
		c("module-no-memory", "malformed", "The memory is not exported.", with(func(m *wasmModule) { m.left = "memory" }), "A-exports"),
		c("module-shared-memory", "malformed", "A shared memory.", with(func(m *wasmModule) { m.memory = []byte{3, 1, 1} }), "A-exports"),
		c("module-no-buffer", "malformed", "samestep_buffer is not exported.", with(func(m *wasmModule) { m.left = "samestep_buffer" }), "A-exports"),
		c("module-no-call", "malformed", "samestep_call is not exported.", with(func(m *wasmModule) { m.left = "samestep_call" }), "A-exports"),
		c("module-call-type", "malformed", "samestep_call takes an i64.", with(func(m *wasmModule) { m.callType = 3 }), "A-exports"),
		c("module-initialize-type", "malformed", "_initialize takes a parameter.", with(func(m *wasmModule) { m.initialize = 4 }), "A-exports"),
		c("module-reserved-name", "malformed", "An export has a name of the host.", with(func(m *wasmModule) { m.exports = [][]byte{wasmExport("samestep_host_stop", 0, 3)} }), "A-reserved"),
		c("module-refused", "refused", "Describe is refused with a text.", answering(1, "not today").bytes(), "A-answer"),
		c("module-panicked", "panicked", "A panic with a stack behind an empty line.", answering(2, "index out of range\n\nrules.go:7").bytes(), "A-answer"),
		c("module-trap", "panicked", "The module traps.", with(func(m *wasmModule) { m.call = []byte{wasmUnreachable} }), "A-answer"),
		c("module-status", "wrong", "Status 3.", answering(3, "").bytes(), "A-answer"),
		c("module-outside", "wrong", "The answer ends a byte behind the memory.", with(func(m *wasmModule) { m.call = answers(0, 1<<16-10, 11) }), "A-answer"),
		c("module-last-byte", "description", "The answer ends with the memory; it is no description.", with(func(m *wasmModule) { m.call = answers(0, 1<<16-10, 10) }), "A-answer"),
		c("module-large-answer", "limit", "An answer of 64 MiB and a byte.", with(func(m *wasmModule) { m.call = answers(0, 0, 64<<20+1) }), "A-answer"),
		c("module-buffer-outside", "wrong", "samestep_buffer returns an address behind the memory.", with(func(m *wasmModule) { m.buffer = constant(wasmI32Const, 1<<16+1) }), "A-answer"),
		c("module-endless-recursion", "limit", "samestep_call calls itself.", with(func(m *wasmModule) {
			m.call = []byte{wasmLocalGet, 0, wasmLocalGet, 1, wasmCall, 1}
		}), "A-answer"),
	}
}

// descriptions are answers of Describe.
func descriptions() []Built {
	c := func(id, verdict, about, text string, rules ...string) Built {
		return Built{Case{ID: id, Kind: "description", File: "description/" + id + ".json", Rules: rules, Verdict: verdict, About: about}, []byte(text)}
	}
	of := func(state, more string) string {
		return fmt.Sprintf(`{"abi":1,"game":"conform","build":"1","state":%q,"config":"struct { Start int32 }","commands":[%s}`, state, more)
	}
	const state = "struct { Ticks uint32; Coins []int32 }"
	add := `{"kind":1,"name":"add","payload":"struct { Coins int16 }"`
	schema := fmt.Sprintf("%x", describe(root(1), node{tInt32, 16, 0, "Q"}))
	return []Built{
		c("description-least", "ok", "Only what every description has.", leastDescription, "A-description"),
		c("description-whole", "ok", "Every key.", of(state, add+`,"limit":3,"per_us":"500000"}],"result":"struct { Seat uint8 }","view":"struct { Units []struct { ID uint16; Pos int32 } }",`+
			`"view_tags":[{"path":"Units[].ID","tag":"id"}],"assets":true,"words":true,"self_test":"18446744073709551615","sources":{"module":"example.com/conform","version":"v1.2.3"}`), "A-description"),
		c("description-schema", "ok", "A type as a schema, with fraction bits.", of(schema, "]"), "A-type"),
		c("description-text", "ok", "A type as text, with line ends.", of("struct {\n\tA, B uint8\n\tC [2]bool\n}\n", "]"), "A-type"),
		c("description-no-json", "description", "The answer is no JSON.", "rules", "A-description"),
		c("description-version", "unsupported", "Version 2.", `{"abi":2,"game":"conform","build":"1","state":"struct{}","config":"struct{}","commands":[]}`, "A-version"),
		c("description-version-keys", "unsupported", "Version 2 with keys of its own.", `{"abi":2,"game":{"name":"conform"}}`, "A-version"),
		c("description-no-version", "description", "The version is missing.", `{"game":"conform","build":"1","state":"struct{}","config":"struct{}","commands":[]}`, "A-description"),
		c("description-unknown-key", "description", "A key that this version does not have.", of(state, `],"colour":"red"`), "A-description"),
		c("description-no-state", "description", "The type of the state is missing.", `{"abi":1,"game":"conform","build":"1","config":"struct{}","commands":[]}`, "A-description"),
		c("description-no-payload", "description", "A command without the type of its payload.", of(state, `{"kind":1,"name":"add"}]`), "A-description"),
		c("description-kind-zero", "ok", "A command of kind 0.", of(state, `{"kind":0,"name":"add","payload":"struct{}"}]`), "A-description"),
		c("description-kind-twice", "description", "Two commands of one kind.", of(state, add+`},{"kind":1,"name":"say","payload":"struct{}"}]`), "A-description"),
		c("description-name-twice", "description", "Two commands of one name.", of(state, add+`},{"kind":2,"name":"add","payload":"struct{}"}]`), "A-description"),
		c("description-no-name", "description", "A game without a name.", `{"abi":1,"game":"","build":"1","state":"struct{}","config":"struct{}","commands":[]}`, "A-description"),
		c("description-floats", "description", "The state has a float.", of("struct { X float32 }", "]"), "A-type"),
		c("description-type", "description", "A type that is neither form.", of("uint8", "]"), "A-type"),
		c("description-map", "description", "A type with a map.", of("struct { M map[string]uint8 }", "]"), "A-type"),
		c("description-bad-schema", "description", "A schema whose last byte is missing.", of(schema[:len(schema)-2], "]"), "A-type"),
	}
}

// moduleMessages are messages between a host and a module.
func moduleMessages() []Built {
	c := func(id, verdict, about, message, hex string, rules ...string) Built {
		text := fmt.Sprintf("# %s\n%s: %s\n", about, message, hex)
		return Built{Case{ID: id, Kind: "abi", File: "abi/" + id + ".hex", Rules: rules, Verdict: verdict, About: about}, []byte(text)}
	}
	const take = "05000000" + "01" + "0100" + "09000000" + "02000000" + "0302"
	const phase = "05000000" + "6669676874" + "0800000000000000" + "01000000" + "0900000000000000"
	return []Built{
		c("abi-match", "ok", "The match that an instance runs.", "match", "0100000000000000"+"02"+"50c30000"+"03000000041400", "A-message"),
		c("abi-assets", "ok", "The list of one asset.", "assets", "01000000"+"0100000061"+"40000000"+fmt.Sprintf("%x", "3a6eb0790f39ac87c94f3856b2dd2c5d110e6811602261a9a923d3bb23adc8b7")+"07000000", "A-message"),
		c("abi-contents", "ok", "The content of one asset.", "contents", "01000000"+"020000006869", "A-message"),
		c("abi-state", "ok", "A world of tick 5.", "state", "05000000"+"020000000102", "A-message"),
		c("abi-command", "ok", "The command of the page.", "command", take, "A-message"),
		c("abi-frame", "ok", "A frame with one command, whose phases are wanted.", "frame", "05000000"+"00"+"01"+"01000000"+take, "A-message"),
		c("abi-frame-empty", "ok", "A frame without commands.", "frame", "ffffffff"+"00"+"00"+"00000000", "A-message"),
		c("abi-outcome-end", "ok", "The rules end the match with a result.", "outcome", "01"+"0100000001"+"00000000"+"00000000", "A-message"),
		c("abi-outcome-tools", "ok", "A draw and a phase.", "outcome", "00"+"00000000"+"01000000"+"03000000686974"+"07000000"+"050000006669676874"+"01000000"+phase, "A-message"),
		c("abi-answer", "ok", "A step refused a command of player 1.", "answer", "00"+"00000000"+"00000000"+"00000000"+"01000000"+"01"+"09000000"+"020000006e6f", "A-message", "A-refusals"),
		c("abi-answer-cut", "malformed", "An answer ends where an outcome does.", "answer", "00"+"00000000"+"00000000"+"00000000", "A-message", "A-refusals"),
		c("abi-frame-bool", "malformed", "A bool is 2.", "frame", "05000000"+"02"+"01"+"00000000", "A-message"),
		c("abi-frame-cut", "malformed", "A frame ends inside a command.", "frame", "05000000"+"00"+"01"+"01000000"+take[:len(take)-2], "A-message"),
		c("abi-frame-trailing", "malformed", "A byte stands after a frame.", "frame", "05000000"+"00"+"01"+"00000000"+"00", "A-message"),
		c("abi-outcome-count", "malformed", "An outcome claims more draws than there is room for.", "outcome", "01"+"00000000"+"ffffffff"+"00000000", "A-message"),
		c("abi-outcome-empty", "malformed", "An outcome without bytes.", "outcome", "", "A-message"),
	}
}
