// Command wasm is the program of the page: it joins and simulates matches, and gives the page frames to draw. It is
// compiled for GOOS=js GOARCH=wasm.
package main

import "github.com/seed-49bee653/samestep/page/program"

func main() {
	f := program.Functions{}
	addLive(f)
	addWatch(f)
	f.Serve()
}
