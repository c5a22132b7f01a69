// Package monitoring holds the alerts and the dashboard that operators load, docs/alerts.yml
// and docs/grafana.json, against a real Prometheus that scrapes real gateways. It has tests
// only.
package monitoring
