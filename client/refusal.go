package client

import (
	"encoding/json"
	"fmt"
)

// Statuses of HTTP. A program for a browser must not link net/http for them: it is half of its size.
const (
	statusOK  = 200
	statusBad = 400 // and above
)

// maxRefusal is how many bytes of an answer with an error are read.
const maxRefusal = 1 << 10

// refusal returns the error of an HTTP answer with another status than the wanted one: the message in its body, if the
// server is one of ours.
func refusal(status, want int, body []byte) error {
	var problem struct {
		Error struct{ Message string }
	}
	if status >= statusBad && json.Unmarshal(body, &problem) == nil && problem.Error.Message != "" {
		return fmt.Errorf("%s (status %d)", problem.Error.Message, status)
	}
	return fmt.Errorf("got status %d, want %d", status, want)
}
