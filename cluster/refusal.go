package cluster

import (
	"encoding/json"
	"net/http"
)

// refuseFor answers that a request may succeed in a second.
func refuseFor(w http.ResponseWriter, code, message string) {
	w.Header().Set("Retry-After", "1")
	refuse(w, http.StatusServiceUnavailable, code, message)
}

// refuse answers with an error of the form that server has.
func refuse(w http.ResponseWriter, status int, code, message string) {
	type failure struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]failure{"error": {code, message}})
}
