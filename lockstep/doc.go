// Package lockstep is the pure core of the engine: it orders the commands of a
// match, seals them into frames, applies the frames to a simulation, and
// compares the checksums of the states that result. It owns no socket, clock,
// goroutine or file.
package lockstep
