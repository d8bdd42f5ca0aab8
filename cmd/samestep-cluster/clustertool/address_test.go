//go:build !js

package clustertool

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

// A server warns of an address that cannot lead to it, and is silent about one that can.
func TestCheckAddress(t *testing.T) {
	const here, nats = "nats://127.0.0.1:4222", "nats://192.0.2.9:4222,nats://192.0.2.8:4222"
	for _, row := range []struct{ address, listens, nats, want string }{
		{"http://127.0.0.1:8766", "http://127.0.0.1:8766", here, ""},
		{"http://localhost:8766", "http://127.0.0.1:8766", here, ""},
		{"http://192.0.2.2:8766", "http://192.0.2.2:8766", nats, ""},
		{"http://192.0.2.2:8766", "http://[::]:8766", nats, ""},
		{"http://eu-1.example", "http://192.0.2.2:8766", nats, ""},
		{"http://192.0.2.2:8766", "unix:/run/socket", nats, ""},
		{"http://192.0.2.2:8766", "http://127.0.0.1:8766", nats, "unless a proxy forwards it"},
		{"http://eu-1.example", "http://127.0.0.1:8766", nats, "unless a proxy forwards it"},
		{"http://192.0.2.2:8766", "http://192.0.2.3:8766", nats, "unless a proxy forwards it"},
		{"http://127.0.0.1:8766", "http://127.0.0.1:8766", nats, "for this machine only"},
	} {
		var log bytes.Buffer
		checkAddress(slog.New(slog.NewTextHandler(&log, nil)), row.address, row.listens, row.nats)
		if (log.Len() > 0) != (row.want != "") || !strings.Contains(log.String(), row.want) {
			t.Errorf("%s, which listens at %s: got %q, want %q", row.address, row.listens, &log, row.want)
		}
	}
}
