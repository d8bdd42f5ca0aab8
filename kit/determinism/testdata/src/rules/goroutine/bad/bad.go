//samestep:deterministic
package bad

import "sync"

func all(work []func()) {
	var group sync.WaitGroup
	for _, f := range work {
		group.Go(f) // want `goroutine: `
	}
	group.Wait()
	go all(nil) // want `goroutine: `
}
