// Package difftest holds the comparison of two configurations against running gateways: what it says opens, closes or may do so
// is what changes there, and nothing else does. It consists of tests.
package difftest
