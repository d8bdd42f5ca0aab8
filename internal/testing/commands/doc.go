// Package commands finds the commands that documents print, for the tests that run them.
//
// A command stands in a block, indented or between fences, or in a code span. In the first cell of a table's row a span may leave
// out the words that it shares with the one before:
//
//	| `samestep replay seek FILE --tick T`, `dump FILE` | … |
//
// A [Command] keeps the text as it is printed. [Command.Calls] gives the programs that a shell would start, without comments,
// redirections and the variables before them.
package commands
