//samestep:deterministic
package bad

import (
	"fmt"
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

func hour(tick uint32) int {
	return time.Unix(int64(tick)*600, 0).Hour() // want `outside: `
}

func zone(text string) (time.Time, error) {
	return time.Parse(time.RFC1123, text) // want `outside: `
}

func say(t time.Time) string {
	return fmt.Sprint(t) // want `outside: `
}
