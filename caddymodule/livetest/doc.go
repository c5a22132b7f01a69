// Package livetest holds the gateway against real traffic: it runs Caddy with
// the directive in front of servers that write down every byte that reaches
// them, and compares that with what was sent, what was judged and what the real
// platform ran. It has tests only, and their own client.
package livetest
