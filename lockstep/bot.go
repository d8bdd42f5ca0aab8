package lockstep

// A Bot plays one seat: it returns the commands that it issues in a state, as pointers to registered types that are valid
// until the next call. It only reads the state, and may keep a memory of its own.
type Bot = func(s *Simulation) []any
