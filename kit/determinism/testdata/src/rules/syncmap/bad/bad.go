//samestep:deterministic
package bad

import "sync"

type cache struct{ units sync.Map }

func (c *cache) list() (ids []uint32) {
	c.units.Range(func(id, _ any) bool { // want `syncmap: `
		ids = append(ids, id.(uint32))
		return true
	})
	return ids
}
