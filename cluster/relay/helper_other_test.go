//go:build !linux

package relay_test

func helpBenchmark() {}
