package gateway

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

var lockdownDesc = prometheus.NewDesc("caddy_restwarden_lockdown",
	"1 while a lockdown closes the site to anonymous callers, else 0.", []string{"site"}, nil)

// lockdownGauge collects whether sites are locked. It looks when it is read, since a
// lockdown outlives the configuration that the metrics belong to.
type lockdownGauge struct{ app *App }

// Describe implements prometheus.Collector.
func (lockdownGauge) Describe(to chan<- *prometheus.Desc) { to <- lockdownDesc }

// Collect implements prometheus.Collector.
func (g lockdownGauge) Collect(to chan<- prometheus.Metric) {
	now := time.Now()
	for _, s := range g.app.sites() {
		locked := 0.0
		if s.state.lockdown(now) != nil {
			locked = 1
		}
		to <- prometheus.MustNewConstMetric(lockdownDesc, prometheus.GaugeValue, locked, s.Name)
	}
}
