// Package memory has a test only: it measures what the verbs of samestep replay
// take on every replay of the test data, and on hostile files. It is a package of
// its own since a process that starts another counts as that one's memory.
package memory
