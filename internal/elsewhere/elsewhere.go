// Package elsewhere gives this process what another machine has: rules that ask for it compute something else then.
package elsewhere

import (
	"errors"
	"os"
	"time"
)

// Zone changes time.Local to a zone that is hours away.
func Zone() (undo func()) {
	local := time.Local
	_, offset := time.Unix(0, 0).Zone()
	time.Local = time.FixedZone("ELSEWHERE", (offset+48*3600)%(24*3600)-12*3600+1800) // half a day away, and half an hour
	return func() { time.Local = local }
}

// Names are the environment variables that [Variables] changes.
const Names = "HOME, LANG, LC_ALL, TZ, USER"

// Variables changes environment variables that say where and who one is.
func Variables() (undo func(), err error) {
	var restore []func() error
	for _, name := range []string{"HOME", "LANG", "LC_ALL", "TZ", "USER"} {
		if old, ok := os.LookupEnv(name); ok {
			restore = append(restore, func() error { return os.Setenv(name, old) })
		} else {
			restore = append(restore, func() error { return os.Unsetenv(name) })
		}
		err = errors.Join(err, os.Setenv(name, "elsewhere"))
	}
	return func() {
		for _, f := range restore {
			f() // what was there can be set again
		}
	}, err
}
