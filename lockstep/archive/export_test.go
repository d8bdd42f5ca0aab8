//go:build !js

package archive

import (
	"context"
	"syscall"
	"time"
)

// Across is a Folder on another file system than the files that come into it.
type Across struct{ *Folder }

func (a Across) Put(ctx context.Context, name, path string) error {
	return a.put(ctx, name, path, func(string, string) error { return syscall.EXDEV })
}

// Retain deletes what is not to be kept at a time.
func (a *Archive) Retain(ctx context.Context, now time.Time) error {
	a.rest = time.Time{}
	_, err := a.tidy(ctx, now)
	return err
}
