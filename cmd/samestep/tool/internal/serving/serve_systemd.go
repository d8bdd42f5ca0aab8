//go:build !js

package serving

import (
	"log/slog"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
)

// notifySystemd tells systemd the state of the server, if systemd has started it with Type=notify.
func notifySystemd(state string, log *slog.Logger) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		log.Warn("systemd was not notified", "state", state, "err", err)
	}
}

// keepWatchdogFed notifies the watchdog of systemd twice in each of its periods until stop is called. It does nothing if
// the unit has no WatchdogSec.
func keepWatchdogFed(log *slog.Logger) (stop func()) {
	period, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		log.Warn("the watchdog of systemd is not used", "err", err)
	}
	if period <= 0 {
		return func() {}
	}
	tick, done := time.NewTicker(period/2), make(chan struct{})
	go func() {
		for {
			select {
			case <-tick.C:
				notifySystemd(daemon.SdNotifyWatchdog, log)
			case <-done:
				return
			}
		}
	}()
	return func() {
		tick.Stop()
		close(done)
	}
}
