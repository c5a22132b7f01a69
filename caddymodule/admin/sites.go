package admin

import (
	"net/http"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
)

// serveSites answers GET sites.
func serveSites(w http.ResponseWriter, r request) error {
	return writeJSON(w, adminapi.Sites[adminapi.Site, adminapi.Store]{
		Version: adminapi.Version, Sites: r.gateways.Statuses(), Store: r.gateways.Store(), OperatorHeader: r.gateways.OperatorHeader(),
	})
}

// serveRefusals answers GET sites/<site>/refusals.
func serveRefusals(w http.ResponseWriter, r request) error {
	return writeJSON(w, adminapi.Refusals[adminapi.Refusal]{
		Version: adminapi.Version, Site: r.name, Refusals: append([]adminapi.Refusal{}, r.gateways.Refusals(r.name)...),
	})
}
