package host

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// guarded runs code of a bot, and turns a panic into an error.
func guarded(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			//samestep:allow runtime for people: no simulation reads it
			err = &botPanic{v, string(debug.Stack())}
		}
	}()
	return f()
}

// A botPanic is a panic of a bot, or of what makes it.
type botPanic struct {
	value any
	stack string
}

func (e *botPanic) Error() string { return fmt.Sprintf("the bot panicked: %v", e.value) }

// stackOf returns the stack of a botPanic, or "".
func stackOf(err error) string {
	if fault := (*botPanic)(nil); errors.As(err, &fault) {
		return fault.stack
	}
	return ""
}
