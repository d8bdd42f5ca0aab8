package module

import "errors"

// Errors of a module that is no rules.
var (
	ErrMalformed = errors.New("module: not a module of rules")
	ErrImports   = errors.New("module: the module imports something; rules must not")
	ErrLimit     = errors.New("module: exceeds a limit")
)
