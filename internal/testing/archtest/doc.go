// Package archtest holds the rules of this repository as tests: which package may
// import which, what the deterministic packages must not contain, what must be
// documented, and what must not lie in the tree. It has no code but its tests.
//
// Each rule is a table of data, a check that gives findings, and a negative
// control: a snippet that breaks the rule and must be found. A finding names
// file, line and rule. Where a rule has an exception, the exception is a row
// with its reason, and a row that nothing needs any more is a finding, too.
//
//	go test ./internal/testing/archtest
package archtest
