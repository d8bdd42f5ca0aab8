package record

// TopicRules is the topic of a note of [System], which only the log has: the SHA-256 of the module with the rules of the match, in
// hexadecimal digits. A server writes it after the first records, see [Record.RulesSum].
const TopicRules = "rules"

// RulesSum returns the sum in a note of [TopicRules], or "" for any other record.
func (r *Record) RulesSum() string {
	if r.Kind != KindNote || r.Player != System || r.Topic != TopicRules || !IsAssetSum(r.Text) {
		return ""
	}
	return r.Text
}
