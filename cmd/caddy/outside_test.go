package main

// outside is a statement that no request shows, or of which a part cannot be shown.
type outside struct {
	of, what, why string
	part          bool
}

// outOfReach are the statements that no REST request through the gateway can show.
var outOfReach = []outside{
	{of: "1 rule 6", what: "the command line, and the layer above REST", why: "no HTTP"},
}

// reviewed are the sums of the sections that the rows were written for.
var reviewed = map[string]string{}
