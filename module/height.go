package module

// A height follows the number of operands on the stack through a function.
type height struct {
	types     []functionType // of the module
	functions []functionType
	now, most int
	blocks    []opened
}

// An opened block is one that has not ended.
type opened struct{ base, parameters, results int }

// next goes over an instruction. Of code that is not valid, which the machines refuse, the heights mean nothing.
func (h *height) next(i instruction) {
	switch op := i.op(); op {
	case opBlock, opLoop, opIf:
		if op == opIf {
			h.now--
		}
		t := h.blockType(i)
		h.blocks = append(h.blocks, opened{h.now - len(t.parameters), len(t.parameters), len(t.results)})
	case opElse:
		h.now = h.innermost().base + h.innermost().parameters
	case opEnd:
		h.now = h.innermost().base + h.innermost().results
		h.blocks = h.blocks[:max(len(h.blocks)-1, 0)]
	case opBr, opBrTable, opReturn, opUnreachable:
		h.now = h.innermost().base // what follows is never reached
	case opCall:
		h.call(h.functions, i.number())
	case opCallIndirect:
		h.now--
		h.call(h.types, i.number())
	default:
		takes, gives := i.operands()
		h.now += gives - takes
	}
	h.now = max(h.now, h.innermost().base)
	h.most = max(h.most, h.now)
}

// innermost returns the innermost block that has not ended, or that of the function.
func (h *height) innermost() opened {
	if len(h.blocks) == 0 {
		return opened{}
	}
	return h.blocks[len(h.blocks)-1]
}

// call goes over a call of a function of a type in a list.
func (h *height) call(types []functionType, index int) {
	if index < len(types) {
		h.now += len(types[index].results) - len(types[index].parameters)
	}
}

// blockType returns the type of a block.
func (h *height) blockType(i instruction) functionType {
	switch v := i.constant(); {
	case v >= 0 && v < int64(len(h.types)):
		return h.types[v]
	case i[1] == blockWithoutResult:
		return functionType{}
	}
	return functionType{results: i[1:2]}
}

// operands returns how many values an instruction takes from the stack and gives to it, if it is no call and belongs to no block.
func (i instruction) operands() (takes, gives int) {
	if takes, gives, ok := i.effect(); ok {
		return takes, gives
	}
	switch op := i.op(); {
	case op == opBrIf:
		return 1, 0
	case op == opSelectTyped:
		return 3, 1
	case op == opTableSet || op >= opI32Store && op <= opLastStore:
		return 2, 0
	case op == opMemorySize || op == opRefNull || op == opRefFunc:
		return 0, 1
	case op == opBulk:
		return i.bulkOperands()
	}
	return 1, 1 // loads, memory.grow, table.get, ref.is_null
}

func (i instruction) bulkOperands() (takes, gives int) {
	switch i[1] {
	case 8, 10, 11, 12, 14, 17: // that copy or fill
		return 3, 0
	case 9, 13: // data.drop, elem.drop
		return 0, 0
	case 15: // table.grow
		return 2, 1
	case 16: // table.size
		return 0, 1
	}
	return 1, 1 // conversions that saturate
}
