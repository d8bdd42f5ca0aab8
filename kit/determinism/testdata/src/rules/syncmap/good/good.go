//samestep:deterministic
package good

type cache struct{ units []uint32 }

func (c *cache) list() []uint32 { return c.units }
