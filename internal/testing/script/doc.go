// Package script runs tests that are written as steps with the output that is
// expected of them. A script is a text file of blocks, with an empty line
// between two of them:
//
//	# A comment explains the steps below it.
//	join p=1
//	submit p=1 seq=1 move units=3
//	----
//	tick 1
//	accepted for tick 12
//
// A block is one or more steps, a line of four dashes, and what the steps print
// together. A step is a verb and arguments: name=value, or a word alone, which
// is the same as word=true. A value that has spaces stands in double quotes.
//
// A test gives [Run] the files and what makes an interpreter of steps:
//
//	script.Run(t, "testdata/*.txt", func(t *testing.T) script.Interpreter {
//		m := newMatch(t)
//		return m.run
//	})
//
// With the flag -update the files are rewritten with what the steps print now.
package script
