package grammar

// edges are lengths at which something ends somewhere on the way, and at which a
// reader may begin to differ from the next one.
var edges = []int{
	0, 1,
	60, 64, // levels of brackets (PHP), of JSON; the gateway counts 60
	255,
	1000, 1001, // variables (PHP's max_input_vars), parts of a form
	1024,  // PHP's handler of forms; the gateway's longest boundary
	4096,  // buffers of HTTP servers and of Go's readers; members of a JSON object
	5120,  // a line of multipart in PHP
	8190,  // Apache's request line and fields
	8192,  // nginx's and PHP's stream buffers
	16384, // PHP's blocks of a body, HTTP/2 frames, TLS records; forms that the gateway looks into
	32768, // targets and fields in the gateway; its windows over spooled forms
	65500, // values in Caddy's FastCGI client
	65535, // a FastCGI record
	65536, // what the gateway keeps of a body in memory; headers of a part
	131072,
	262144,
}

// length is mostly short, else a little around one of the edges.
func (g *Generator) length() int {
	if !g.oneIn(24) {
		return g.IntN(6)
	}
	return g.edge()
}

// edge is a little around one of the edges, seldom a large one.
func (g *Generator) edge() int {
	n := edges[g.IntN(len(edges))]
	if n > 65536 && !g.oneIn(4) {
		n = edges[g.IntN(11)]
	}
	return max(0, n-g.IntN(24)+8)
}
