//go:build !js

package tool

import (
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/urfave/cli/v2"
)

// statusOf returns the status of an answer in our own words, since a server can send any text.
func statusOf(r *http.Response) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", r.StatusCode, http.StatusText(r.StatusCode)))
}

// clientToken returns the token of --token or --token-file.
func clientToken(c *cli.Context) (string, error) {
	path := c.String("token-file")
	if path == "" {
		return c.String("token"), nil
	}
	b, err := os.ReadFile(path)
	return strings.TrimSpace(string(b)), err
}
