// Package determinism finds, before anyone plays, what would make two machines compute different matches: an analyzer for
// the code of lockstep simulations.
//
// Checked are the functions that a game gives to lockstep.Rules as New, Step, Derive, Validate and SelfTest, functions and packages
// with the comment
//
//	//samestep:deterministic
//
// and all that these call, in their own package and in others: what is found elsewhere is reported at the call. Function
// values are followed to all places that name them, interface methods to all types in sight. What cannot be followed is
// itself a finding, "unseen". The types of states, configurations and commands are checked, too.
//
// docs/determinism-rules.md has the rules, each with what it finds and what to write instead. A finding that is known to be
// harmless is allowed by a comment that says why:
//
//	//samestep:allow sort kinds are unique
//
// It is for its own line, or for the next if it stands alone, for a declaration in whose comment it stands, or for a file
// before whose package clause it stands. One without a reason, or one that nothing needs, is itself a finding.
//
// [Analyzer] is a plain go/analysis analyzer; [Vet] runs it on packages, and so does the command, alone or under go vet:
//
//	samestep vet ./...
//	go vet -vettool=$(which samestep) ./...
package determinism
