package metrics

import (
	"iter"

	"github.com/prometheus/client_golang/prometheus"
)

// Site is what is read of a site at each scrape, since it outlives the configuration that the
// metrics belong to.
type Site struct {
	Locked       bool   // a lockdown closes it
	Opens        int    // lines that open calls
	Closes       int    // lines that close calls
	RouteChanges uint64 // routes of its REST roots that have come or gone
	Misread      uint64 // pages that its REST interface has answered
}

// siteCollector reads the sites by their names. A site that nobody has called costs nothing.
type siteCollector struct{ sites iter.Seq2[string, Site] }

var (
	lockdownDesc = siteDesc("lockdown",
		"1 while a lockdown closes the site to anonymous callers, else 0.")
	openDesc = siteDesc("open",
		"Lines that are switched on and open calls of the site to anyone.")
	closeDesc = siteDesc("close",
		"Lines that are switched on and close calls of the site to everybody whom the platform has not verified.")
	routeChangesDesc = siteDesc("route_changes_total",
		"Routes that have appeared in a REST root of the site, or vanished from it.")
	misreadDesc = siteDesc("misread_total",
		"Pages that the REST interface of the site has answered, so that no rule has judged the call.")
)

func siteDesc(name, help string) *prometheus.Desc {
	return prometheus.NewDesc(prometheus.BuildFQName(namespace, subsystem, name), help, []string{"site"}, nil)
}

// Describe implements prometheus.Collector.
func (siteCollector) Describe(to chan<- *prometheus.Desc) {
	to <- lockdownDesc
	to <- openDesc
	to <- closeDesc
	to <- routeChangesDesc
	to <- misreadDesc
}

// Collect implements prometheus.Collector.
func (c siteCollector) Collect(to chan<- prometheus.Metric) {
	for name, s := range c.sites {
		locked := 0.0
		if s.Locked {
			locked = 1
		}
		to <- prometheus.MustNewConstMetric(lockdownDesc, prometheus.GaugeValue, locked, name)
		to <- prometheus.MustNewConstMetric(openDesc, prometheus.GaugeValue, float64(s.Opens), name)
		to <- prometheus.MustNewConstMetric(closeDesc, prometheus.GaugeValue, float64(s.Closes), name)
		to <- prometheus.MustNewConstMetric(routeChangesDesc, prometheus.CounterValue, float64(s.RouteChanges), name)
		to <- prometheus.MustNewConstMetric(misreadDesc, prometheus.CounterValue, float64(s.Misread), name)
	}
}
