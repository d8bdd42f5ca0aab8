// Package determinism is an analyzer for the code of lockstep simulations. It finds code that would make two machines
// compute different matches, before anyone plays.
//
// It checks the functions that a game sets as Assets, Load, New, Step, Derive, Validate and SelfTest in lockstep.Rules, and as
// refuse in its View, functions and packages with the comment
//
//	//samestep:deterministic
//
// and everything that these call, in their own package and in others; findings in other packages are reported at the call.
// It follows function values to all places that name them, and interface methods to all visible types. A call that it
// cannot follow is itself a finding, "unseen". It also checks the types of states, configurations and commands.
//
// docs/determinism-rules.md lists the rules, with their findings and what to write instead. A comment with a reason allows
// a harmless finding:
//
//	//samestep:allow sort kinds are unique
//
// It covers its own line, or the next if it stands alone, or the declaration whose comment it is in, or the whole file if it
// stands before the package clause. A comment without a reason, and one that nothing needs, is itself a finding.
//
// [Analyzer] is a go/analysis analyzer. [Vet] runs it on packages, and so does the command, alone or under go vet:
//
//	samestep vet ./...
//	go vet -vettool=$(which samestep) ./...
package determinism
