//samestep:deterministic
package good

import "reflect"

func size(m any) int { return reflect.ValueOf(m).Len() }
