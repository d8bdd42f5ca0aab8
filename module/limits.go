package module

// The limits of a module.
const (
	MaxBytes  = 32 << 20 // of the module
	MaxMemory = 1 << 30  // bytes of an instance; a module gets no more on any machine
	MaxAnswer = 64 << 20 // bytes of an answer
)
