package determinism

import "slices"

// A Rule is one thing that a simulation must not do.
type Rule struct {
	Name    string // as in "//samestep:allow NAME reason", and the category of a diagnostic
	Why     string // what goes wrong
	Instead string // what to write
}

// Rules returns all rules, in the order of docs/determinism-rules.md.
func Rules() []Rule { return slices.Clone(rules) }

var rules = []Rule{
	{"float", "floating point rounds differently between machines", "use integers or package fixed"},
	{"fixedpoint", "native arithmetic of fixed-point numbers knows nothing of the point", "use the methods of the type: Mul, Div, FromInt"},
	{"statetype", "its size, address, order or rounding differs between machines", "use sized integers, bools, strings, arrays, slices and structs of them"},
	{"maprange", "the order of a map differs from run to run", "range over sorted keys, or keep a slice"},
	{"syncmap", "the order of a sync.Map differs from run to run", "keep a slice"},
	{"reflectmap", "the order of a map differs from run to run, also by reflection", "sort what comes out, outside of the simulation"},
	{"sort", "an unstable sort leaves the order of equal elements open", "sort stably, or compare by a unique key last"},
	{"order", "Go leaves open whether a variable is read before or after a call that changes it", "make the call a statement of its own"},
	{"global", "a variable of the package is shared by all matches, and is in no snapshot", "keep it in the state"},
	{"captured", "what a function of the rules keeps beside the state is shared by all matches, and is in no snapshot", "keep it in the state"},
	{"goroutine", "the order of goroutines is open", "do the work in place"},
	{"channel", "the order of what comes through a channel is open", "use a slice as a queue"},
	{"select", "select takes a random one of the cases that are ready", "decide by the state"},
	{"atomic", "atomics are for goroutines, whose order is open", "use plain variables of the state"},
	{"clock", "every machine has another time", "count ticks"},
	{"random", "every machine draws other numbers", "draw from a generator in the state, such as fixed.Rand"},
	{"outside", "every machine has other files, variables, networks and settings", "put it into the configuration or a command"},
	{"runtime", "the garbage collector, the scheduler and the platform differ between machines and runs", "decide by the state alone"},
	{"pointer", "an address differs from run to run", "use an id or an index"},
	{"unsafe", "layout, byte order and addresses differ between machines", "use plain Go"},
	{"maphash", "hash/maphash has another seed in every process", "use hash/fnv, or a hash of the state's own"},
	{"unseen", "what it does cannot be seen, so it cannot be checked", "name a function directly, or allow it with the reason why it is deterministic"},
	{"allow", "an exception must say why it holds, and be needed", "write //samestep:allow RULE reason, or delete it"},
}

func ruleNamed(name string) (Rule, bool) {
	at := slices.IndexFunc(rules, func(r Rule) bool { return r.Name == name })
	if at < 0 {
		return Rule{}, false
	}
	return rules[at], true
}

// message puts a finding into words.
func (r Rule) message(what string) string {
	return r.Name + ": " + what + ": " + r.Why + "; " + r.Instead
}
