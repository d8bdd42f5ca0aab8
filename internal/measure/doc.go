// Package measure has the metrics that several packages share.
//
//	samestep_failure_age_seconds  gauge  time since the last failure, by kind and, of a desync, by the build of the match; +Inf without one
//	samestep_certificate_seconds  gauge  seconds until a certificate that the program shows expires, by flag
//	samestep_reload_failed        gauge  1 while the last reading again of a flag's files has failed, else 0, by flag
package measure
