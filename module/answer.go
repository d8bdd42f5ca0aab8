package module

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/seed-49bee653/samestep/lockstep/abi"
)

// answer returns the answer of a function.
func (i *instance) answer(f abi.Function, in []byte) (out []byte, err error) {
	if i.broken != nil {
		return nil, i.broken
	}
	if err := checkInput(in); err != nil {
		return nil, err
	}
	i.spent = i.spent || i.cheap && (f == abi.Create || f == abi.Restore)
	if err = i.run(func() error { out, err = i.exchange(f, in); return err }); err != nil {
		return nil, err // what an answer is in may be gone: it can come when the time is over
	}
	return out, nil
}

// checkInput returns the fault of a message that no module takes.
func checkInput(in []byte) error {
	if len(in) > MaxMemory {
		return &abi.Fault{Text: fmt.Sprintf("a message of %d bytes, want at most %d", len(in), MaxMemory)}
	}
	return nil
}

// tooMuch returns the fault of a call that does more than it may.
func tooMuch(passes int64) *abi.Fault {
	return &abi.Fault{Limit: true, Text: fmt.Sprintf("the call did more than %d passes of loops and calls of functions", passes)}
}

// tooDeep returns the fault of a call in which functions call each other too deeply.
func tooDeep() *abi.Fault {
	return &abi.Fault{Limit: true, Text: fmt.Sprintf("calls of functions in the call went deeper than %d", maxDepth)}
}

// outside returns the fault of a module whose buffer is not in its memory.
func outside(at uint32, size int) *abi.Fault {
	return &abi.Fault{Wrong: true, Text: fmt.Sprintf("samestep_buffer gave address %d for %d bytes, which is outside the memory", at, size)}
}

// parseAnswer returns the answer that a packed word says. read returns a part of the memory.
func parseAnswer(packed uint64, most int, read func(at, size uint32) ([]byte, bool)) ([]byte, error) {
	status, at, size := abi.Status(packed>>62), uint32(packed>>32)&(1<<30-1), uint32(packed)
	if int64(size) > int64(most) {
		return nil, &abi.Fault{Limit: true, Text: fmt.Sprintf("an answer of %d bytes, want at most %d", size, most)}
	}
	out, ok := read(at, size)
	if !ok {
		return nil, &abi.Fault{Wrong: true, Text: fmt.Sprintf("an answer of %d bytes at address %d, which is outside the memory", size, at)}
	}
	switch status {
	case abi.OK:
		return out, nil
	case abi.Refused:
		return nil, &abi.Refusal{Text: text(out)}
	case abi.Panicked:
		message, stack, _ := strings.Cut(text(out), "\n\n")
		return nil, &abi.Fault{Text: message, Stack: stack}
	}
	return nil, &abi.Fault{Wrong: true, Text: fmt.Sprintf("an answer of status %d, want at most %d", status, abi.Panicked)}
}

// maxText is the longest text of a module that the host keeps, in bytes.
const maxText = 64 << 10

// text returns a text of a module for people: valid UTF-8 without characters that control a terminal, other than those of lines.
func text(b []byte) string {
	return strings.Map(func(c rune) rune {
		if c != '\n' && c != '\t' && !unicode.IsPrint(c) {
			return '\ufffd'
		}
		return c
	}, strings.ToValidUTF8(string(b[:min(len(b), maxText)]), "\ufffd"))
}
