//go:build js || wasip1

package main

import "os"

var hangup []os.Signal // none
