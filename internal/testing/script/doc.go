// Package script runs tests that are files of steps and their expected output, in the
// format of [datadriven] with several steps in a block:
//
//	# A comment explains the steps below it.
//	join p=1
//	submit p=1 seq=1 move units=3
//	----
//	tick 1
//	accepted for tick 12
//
// A block is one or more steps, a line of four dashes, the output of the steps, and an
// empty line. A step is a verb and its arguments: name=value, or a word, which is short
// for word=true. A value with spaces stands in parentheses. Values may have the escapes
// of a Go string.
//
// A test calls [Run] with the files and a function that makes an interpreter of steps:
//
//	script.Run(t, "testdata/*.txt", func(t *testing.T) script.Interpreter {
//		m := newMatch(t)
//		return m.run
//	})
//
// The flag -rewrite replaces the expected output in the files.
//
// [datadriven]: https://pkg.go.dev/github.com/cockroachdb/datadriven
package script
