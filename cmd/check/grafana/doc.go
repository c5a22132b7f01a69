// Package grafana holds the form of docs/grafana.json against the types that Grafana publishes
// of its dashboards, @grafana/schema. Its tests need the build tag grafana, Node.js and npm.
// What the dashboard asks is tested in the package monitoring.
package grafana
