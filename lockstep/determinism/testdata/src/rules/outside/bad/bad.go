//samestep:deterministic
package bad

import (
	"net"
	"os"
	"path/filepath"
	"time"
)

func level() string {
	return os.Getenv("LEVEL") // want `outside: `
}

func load() ([]byte, error) {
	return os.ReadFile(filepath.Join("maps", "1")) // want `outside: `
}

func name() ([]string, error) {
	return net.LookupHost("localhost") // want `outside: `
}

func noon(t time.Time) int {
	return t.In(time.Local).Hour() // want `outside: `
}
