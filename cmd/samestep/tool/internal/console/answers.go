//go:build !js

package console

import (
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/urfave/cli/v2"
)

// StatusOf returns the status of an answer in our own words, since a server can send any text.
func StatusOf(r *http.Response) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", r.StatusCode, http.StatusText(r.StatusCode)))
}

// ClientToken returns the token of --token or --token-file.
func ClientToken(c *cli.Context) (string, error) {
	path := c.String("token-file")
	if path == "" {
		return c.String("token"), nil
	}
	b, err := os.ReadFile(path)
	return strings.TrimSpace(string(b)), err
}
