package gateway

import "github.com/prometheus/client_golang/prometheus"

var misreadDesc = prometheus.NewDesc("caddy_restwarden_misread_total",
	"Pages that the REST interface of the site has answered, so that no rule has judged the call.", []string{"site"}, nil)

// misreadTotal collects how many pages were misread. It looks when it is read: the count
// outlives the configuration that the metrics belong to.
type misreadTotal struct{ app *App }

// Describe implements prometheus.Collector.
func (misreadTotal) Describe(to chan<- *prometheus.Desc) { to <- misreadDesc }

// Collect implements prometheus.Collector.
func (c misreadTotal) Collect(to chan<- prometheus.Metric) {
	for _, s := range c.app.sites() {
		to <- prometheus.MustNewConstMetric(misreadDesc, prometheus.CounterValue, float64(s.state.misreads.total()), s.Name)
	}
}
