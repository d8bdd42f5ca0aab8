package conformance

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/abi"
	"github.com/seed-49bee653/samestep/module"
	"github.com/seed-49bee653/samestep/state"
)

// runModule loads a module and asks it for its description. Its verdicts are those of docs/spec/abi.md.
func runModule(file []byte) Result {
	m, err := module.Compile(file, module.Options{Interpret: true})
	if err != nil {
		return Result{Verdict: moduleVerdict(err)}
	}
	one, err := m.New()
	if err != nil {
		return Result{Verdict: moduleVerdict(err)}
	}
	defer one.Close()
	text, err := one.Call(abi.Describe, nil)
	var fault *abi.Fault
	var refused *abi.Refusal
	switch {
	case errors.As(err, &fault) && fault.Stack != "" && !fault.Limit && !fault.Wrong:
		return Result{moduleVerdict(err), map[string]any{"text": fault.Text}}
	case errors.As(err, &refused):
		return Result{moduleVerdict(err), map[string]any{"text": refused.Text}}
	case err != nil:
		return Result{Verdict: moduleVerdict(err)}
	}
	return runDescription(text)
}

// moduleVerdict returns the verdict on a module that has an error.
func moduleVerdict(err error) string {
	var fault *abi.Fault
	var refused *abi.Refusal
	switch {
	case errors.Is(err, module.ErrImports):
		return "imports"
	case errors.Is(err, module.ErrLimit):
		return "limit"
	case errors.Is(err, module.ErrMalformed):
		return "malformed"
	case errors.As(err, &refused):
		return "refused"
	case !errors.As(err, &fault):
		return err.Error()
	case fault.Limit:
		return "limit"
	case fault.Wrong:
		return "wrong"
	}
	return "panicked"
}

// A described is rules that have a description and nothing else.
type described []byte

func (d described) New() (abi.Caller, error) { return d, nil }
func (d described) Close()                   {}

func (d described) Call(f abi.Function, _ []byte) ([]byte, error) {
	if f != abi.Describe {
		return nil, &abi.Refusal{Text: fmt.Sprintf("got %v, want %v", f, abi.Describe)}
	}
	return d, nil
}

// runDescription reads a description of rules.
func runDescription(text []byte) Result {
	if _, err := lockstep.NewGameElsewhere(described(text)); errors.Is(err, abi.ErrUnsupported) {
		return Result{Verdict: "unsupported"}
	} else if err != nil {
		return Result{Verdict: "description"}
	}
	d, err := abi.ParseDescription(text)
	if err != nil {
		return Result{Verdict: err.Error()} // NewGameElsewhere has read it
	}
	facts := map[string]any{"game": d.Game, "build": d.Build}
	for name, t := range map[string]abi.Type{"state": d.State, "config": d.Config, "result": d.Result, "view": d.View} {
		if t.Schema != nil {
			facts[name] = checksum.FormatHash(t.Fingerprint())
		}
	}
	kinds := []any{}
	for _, k := range d.Commands {
		kind := map[string]any{"kind": int(k.Kind), "name": k.Name, "schema": checksum.FormatHash(k.Payload.Fingerprint())}
		if k.Limit > 0 {
			kind["limit"], kind["per_us"] = k.Limit, strconv.FormatUint(uint64(k.Per), 10)
		}
		kinds = append(kinds, kind)
	}
	facts["commands"] = kinds
	return Result{"ok", facts}
}

// moduleSchemas are the messages between a host and a module.
var moduleSchemas = map[string]*state.Schema{
	"match": abi.Matches.Schema(), "assets": abi.Lists.Schema(), "contents": abi.Loads.Schema(), "state": abi.States.Schema(),
	"command": abi.Commands.Schema(), "frame": abi.Frames.Schema(), "outcome": abi.Outcomes.Schema(), "answer": abi.Answers.Schema(),
}

// runModuleMessage reads a file with one message between a host and a module.
func runModuleMessage(text []byte) Result {
	lines, err := hexLines(text)
	if err != nil {
		return Result{Verdict: err.Error()}
	}
	s := moduleSchemas[lines[0].label]
	if s == nil || len(lines) != 1 {
		return Result{Verdict: "no message of a module"}
	}
	leaves := []any{}
	all, err := s.Leaves(lines[0].bytes)
	if err != nil {
		return Result{Verdict: "malformed"}
	}
	for v := range all {
		leaves = append(leaves, leafFact(v))
	}
	return Result{"ok", map[string]any{"leaves": leaves}}
}
