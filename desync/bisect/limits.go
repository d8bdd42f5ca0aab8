package bisect

// The limits. docs/limits.md names this file, and lists no single one.
const (
	maxEvidence       = 1 << 17   // checksums that are compared
	maxReports        = 1 << 17   // checksums that ReadReports reads
	maxReportSections = 1 << 20   // sections of all reports
	maxReportLine     = 64 << 10  // bytes of a line
	maxReportBytes    = 256 << 20 // bytes of all lines, unpacked
)
