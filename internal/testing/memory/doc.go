// Package memory has only a test. It measures the memory of the verbs of samestep replay
// for the replays of the test data and for hostile files. It is a separate package because
// the kernel counts the memory of a process for the process that it starts.
package memory
