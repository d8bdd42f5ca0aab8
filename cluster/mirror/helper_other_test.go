//go:build !linux

package mirror_test

func helpBenchmark() {}
