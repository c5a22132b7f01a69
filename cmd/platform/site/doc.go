// Package site is the reference platform: a small site in memory that speaks
// the REST interface of docs/project/interface.md, for every release, permalink
// structure and plugin version named there. Where the document is silent it
// does what docs/platform describes. The demo and the tests run their gateway
// in front of it; it is not a product.
package site
