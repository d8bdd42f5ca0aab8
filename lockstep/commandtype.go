package lockstep

import "reflect"

// A CommandType is a registered kind of command: its number in the log, its
// name for people, and the Go type of its payload. Make one with [Type].
type CommandType struct {
	Kind Kind
	Name string

	payload reflect.Type
}

// Type registers M, plain data as package state describes it, as the payload
// of commands of a kind.
func Type[M any](kind Kind, name string) CommandType {
	return CommandType{Kind: kind, Name: name, payload: reflect.TypeFor[M]()}
}
