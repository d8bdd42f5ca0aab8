package record

// RulesSum returns the sum in an event [EventRules], or "" for any other record.
func (r *Record) RulesSum() string {
	if r.Event != EventRules || !IsAssetSum(r.Text) {
		return ""
	}
	return r.Text
}
