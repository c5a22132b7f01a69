// Package scopetest holds running gateways against the model of scopes: what it says has to
// become of a request becomes of it. It consists of tests.
package scopetest
