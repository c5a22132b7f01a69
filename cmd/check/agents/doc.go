// Package agents tries the gateway with the clients that agents use: the TypeScript SDK of
// the Model Context Protocol, and the proxy that turns an agent's standard input and output
// into calls of a WordPress site. Its tests need the build tag agents, Node.js and npm.
package agents
