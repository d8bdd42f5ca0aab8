package attack

import (
	"fmt"
	"slices"
	"time"
)

// A Result is what an attack did, what honest players noticed, and what it cost the server.
type Result struct {
	Row     int     `json:"row"`
	Name    string  `json:"name"`
	About   string  `json:"about"`
	Seconds float64 `json:"seconds"` // of the attack

	Skipped string         `json:"skipped,omitempty"` // why there was no attack
	Tries   int            `json:"tries"`
	Told    map[string]int `json:"told,omitempty"`
	Wins    []string       `json:"wins,omitempty"`

	// Of the honest players, during the attack. Checksums and lost connections are
	// also those of the calm phases.
	Honest       int      `json:"honest"`
	Disconnected []string `json:"disconnected,omitempty"`
	Refused      int      `json:"refused"` // commands, by a limit
	Checksums    int      `json:"checksums"`
	Expected     int      `json:"checksums_expected"`
	Differing    int      `json:"checksums_differing"`
	Ticks        int      `json:"ticks"` // by the player who saw fewest
	Nominal      int      `json:"ticks_nominal"`
	CalmP99MS    float64  `json:"calm_lateness_p99_ms"` // of frames, without the attack
	AttackP99MS  float64  `json:"lateness_p99_ms"`
	AllowedMS    float64  `json:"lateness_allowed_ms"` // by the server's flags

	// Of newcomers with a valid token, during the attack.
	Newcomers        int      `json:"newcomers"`
	NewcomersRefused []string `json:"newcomers_refused,omitempty"`
	CalmWelcomeMS    float64  `json:"calm_welcome_ms"` // the longest, without the attack
	WelcomeMS        float64  `json:"welcome_ms"`

	// Of the server; 0 if unknown.
	CPUKnown bool    `json:"server_cpu_known"`
	CalmCPU  float64 `json:"calm_server_cpu_percent"` // of a core, without the attack
	CPU      float64 `json:"server_cpu_percent"`
	Memory   int64   `json:"server_memory_bytes,string"` // maximum, above that before the attack
	Sent     int64   `json:"sent_bytes,string"`          // by the attackers
	Received int64   `json:"received_bytes,string"`
	Written  int64   `json:"written_bytes,string"` // to replays, above that without the attack

	Failures []string `json:"failures,omitempty"`

	calm, late           []time.Duration
	calmTime, attackTime time.Duration
	calmUsed, used       time.Duration
}

// add adds a calm phase and the phase with the attack that followed.
func (r *Result) add(calm, attack *phase) {
	r.Skipped, r.Honest = attack.report.Skipped, len(attack.arrivals)
	r.Tries += attack.report.Tries
	r.Sent, r.Received = r.Sent+attack.report.Sent, r.Received+attack.report.Received
	for what, n := range attack.report.Told {
		if r.Told == nil {
			r.Told = map[string]int{}
		}
		r.Told[what] += n
	}
	for _, w := range attack.report.Wins {
		if !slices.Contains(r.Wins, w) {
			r.Wins = append(r.Wins, w)
		}
	}
	r.Disconnected = append(append(r.Disconnected, calm.lost...), attack.lost...)
	r.Refused += attack.refused
	// Both phases: a check that begins in one may end in the next.
	r.Checksums, r.Expected = r.Checksums+calm.agreed+attack.agreed, r.Expected+calm.expected+attack.expected
	r.Differing += calm.differed + attack.differed
	r.Ticks += int(attack.ticks)
	r.Nominal += int(attack.took / attack.period)
	for i := range attack.arrivals {
		base := promptest(calm.period, calm.arrivals[i], attack.arrivals[i])
		r.calm = append(r.calm, lateness(calm.period, base, calm.arrivals[i])...)
		r.late = append(r.late, lateness(attack.period, base, attack.arrivals[i])...)
	}
	r.Newcomers += attack.welcomes.all
	r.NewcomersRefused = append(r.NewcomersRefused, attack.welcomes.refused...)
	r.CalmWelcomeMS, r.WelcomeMS = max(r.CalmWelcomeMS, milliseconds(calm.welcomes.worst)), max(r.WelcomeMS, milliseconds(attack.welcomes.worst))
	r.calmTime, r.attackTime = r.calmTime+calm.took, r.attackTime+attack.took
	r.calmUsed, r.used = r.calmUsed+calm.cpu, r.used+attack.cpu
	r.Memory = max(r.Memory, attack.memory)
	r.Written += max(0, attack.written-calm.written)
}

// promptest returns the arrival of tick 0 that is as prompt as that of the promptest
// frame.
func promptest(period time.Duration, lists ...[]arrival) (base time.Time) {
	for _, list := range lists {
		for _, a := range list {
			if at := a.at.Add(-time.Duration(a.tick) * period); base.IsZero() || at.Before(base) {
				base = at
			}
		}
	}
	return base
}

// lateness returns how much later than the promptest one each frame arrived.
func lateness(period time.Duration, base time.Time, list []arrival) (late []time.Duration) {
	for _, a := range list {
		late = append(late, a.at.Sub(base)-time.Duration(a.tick)*period)
	}
	return late
}

// finish computes the values of all phases, and finds the failures that do not depend
// on the speed of the machine.
func (r *Result) finish() {
	r.CalmP99MS, r.AttackP99MS = p99(r.calm), p99(r.late)
	percent := func(used, took time.Duration) float64 { return 100 * used.Seconds() / max(took.Seconds(), 1e-3) }
	r.CalmCPU, r.CPU = percent(r.calmUsed, r.calmTime), percent(r.used, r.attackTime)
	if r.Skipped != "" {
		return
	}
	for _, x := range []struct {
		bad  bool
		what string
	}{
		{r.Tries == 0, "the attack did nothing"},
		{len(r.Disconnected) > 0, fmt.Sprintf("%d honest players were disconnected: %s", len(r.Disconnected), first(r.Disconnected))},
		{r.Refused > 0, fmt.Sprintf("%d commands of honest players were refused", r.Refused)},
		{r.Differing > 0, fmt.Sprintf("%d checksums of honest players differ", r.Differing)},
		{r.Checksums < r.Expected-r.Honest || r.Expected == 0, fmt.Sprintf("got %d checksums of honest players, want %d", r.Checksums, r.Expected)},
		{2*r.Ticks < r.Nominal, fmt.Sprintf("got %d ticks, want half of %d at least", r.Ticks, r.Nominal)},
		{r.Newcomers == 0, "no newcomer joined"},
		{len(r.NewcomersRefused) > 0, fmt.Sprintf("%d of %d newcomers were refused: %s", len(r.NewcomersRefused), r.Newcomers, first(r.NewcomersRefused))},
	} {
		if x.bad {
			r.Failures = append(r.Failures, x.what)
		}
	}
	for _, w := range r.Wins {
		r.Failures = append(r.Failures, "the attack succeeded: "+w)
	}
}

// Limits of what honest players may notice and of what an attack may cost. They
// depend on the speed and the other load of the machine.
const (
	MaxWelcome = time.Second
	MaxCPU     = 25 // percent of a core, more than without the attack
)

// Strict adds the failures that depend on the speed of the machine. Frames may arrive
// late by that much more than without the attack.
func (r *Result) Strict(late time.Duration) {
	if r.Skipped != "" {
		return
	}
	if more := r.AttackP99MS - r.CalmP99MS - r.AllowedMS; more > milliseconds(late) {
		r.Failures = append(r.Failures, fmt.Sprintf("frames are %.1f ms later than without the attack (99 %%), want at most %v", more, late))
	}
	if r.WelcomeMS > milliseconds(MaxWelcome) {
		r.Failures = append(r.Failures, fmt.Sprintf("a newcomer was welcomed after %.0f ms, want at most %v", r.WelcomeMS, MaxWelcome))
	}
	if more := r.CPU - r.CalmCPU; more > MaxCPU {
		r.Failures = append(r.Failures, fmt.Sprintf("the server uses %.0f %% of a core more, want at most %d %%", more, MaxCPU))
	}
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// p99 returns the 99th percentile in milliseconds.
func p99(d []time.Duration) float64 {
	if len(d) == 0 {
		return 0
	}
	slices.Sort(d)
	return milliseconds(d[len(d)*99/100])
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
