//samestep:deterministic
package good

import "fmt"

type unit struct{ id, target uint32 }

func name(u *unit) string { return fmt.Sprintf("unit %d, %v of %T", u.id, u, u) } // &{1 2}

func same(a, b *unit) bool { return a == b }

func before(a, b *unit) bool { return a.id < b.id }

type named struct{ next *named }

func (n *named) String() string { return "named" }

func show(n *named) string { return fmt.Sprint(n) }
