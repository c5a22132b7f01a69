package gateway

import "github.com/prometheus/client_golang/prometheus"

var routeChangesDesc = prometheus.NewDesc("caddy_restwarden_route_changes_total",
	"Routes that have appeared in a REST root of the site, or vanished from it.", []string{"site"}, nil)

// routeChanges collects how many routes have come and gone. It looks when it is read: the
// count outlives the configuration that the metrics belong to, and a site that nobody has
// called costs nothing.
type routeChanges struct{ app *App }

// Describe implements prometheus.Collector.
func (routeChanges) Describe(to chan<- *prometheus.Desc) { to <- routeChangesDesc }

// Collect implements prometheus.Collector.
func (c routeChanges) Collect(to chan<- prometheus.Metric) {
	for _, s := range c.app.sites() {
		to <- prometheus.MustNewConstMetric(routeChangesDesc, prometheus.CounterValue, float64(s.state.roots.changes()), s.Name)
	}
}
