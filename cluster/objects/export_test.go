//go:build !js

package objects

import (
	"context"
	"time"
)

// CleanOlder is Clean of what is older by age than the newest file.
func (s *Store) CleanOlder(ctx context.Context, age time.Duration) (int, error) {
	return s.clean(ctx, age)
}

// SetLongestWrite changes the longest time of a Put, until the function that it returns is called.
func SetLongestWrite(d time.Duration) (restore func()) {
	was := longestWrite
	longestWrite = d
	return func() { longestWrite = was }
}
