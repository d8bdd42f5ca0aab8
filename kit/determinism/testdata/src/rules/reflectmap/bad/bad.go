//samestep:deterministic
package bad

import "reflect"

func first(m any) string {
	return reflect.ValueOf(m).MapKeys()[0].String() // want `reflectmap: `
}

func each(m any) (n int64) {
	for i := reflect.ValueOf(m).MapRange(); i.Next(); { // want `reflectmap: `
		n = n*31 + i.Value().Int()
	}
	return n
}
