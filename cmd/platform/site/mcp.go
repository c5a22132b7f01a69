package site

import (
	"net/http"
	"strings"
)

func (s *Site) mcpRoute() {
	if !s.opt.ToolServer {
		return
	}
	s.router.add(s.names.shop, "/mcp", creating, endpoint{run: mcp})
}

// mcp is the tool server (docs/platform III.7): behind an option and a shop key in
// X-MCP-API-Key, its order update tool has the update's bug.
func mcp(q *request) (any, error) {
	s := q.site
	k := s.keyFromPair(q.header.Get("X-Mcp-Api-Key"))
	if k == nil {
		return nil, fail(http.StatusUnauthorized, "rest_forbidden", "A valid X-MCP-API-Key is required.")
	}
	q.user, q.key = k.user, k
	result := obj{"jsonrpc": "2.0", "id": q.json["id"]}
	params := object(q.json["params"])
	switch text(q.json["method"]) {
	case "tools/list":
		result["result"] = obj{"tools": []obj{{"name": s.names.shop + "-orders-update"}, {"name": s.names.shop + "-orders-get"}}}
	case "tools/call":
		rep := s.callTool(q, text(params["name"]), object(params["arguments"]))
		result["result"] = obj{"isError": rep.status >= http.StatusBadRequest, "structuredContent": rep.body}
	default:
		result["error"] = obj{"code": -32601, "message": "Method not found"}
	}
	return result, nil
}

func (s *Site) callTool(q *request, name string, arguments obj) *reply {
	o := ordersAPI{s, s.names.Shop[2], 3}
	route := o.itemRoute(cast(arguments["id"]))
	switch name {
	case s.names.shop + "-orders-update":
		return o.one(q, http.MethodPut, route, arguments)
	case s.names.shop + "-orders-get":
		return o.one(q, http.MethodGet, route, nil)
	}
	return replyOf(nil, fail(http.StatusNotFound, "mcp_unknown_tool", "Unknown tool."))
}

// keyFromPair finds the shop key written as "ck_…:cs_…".
func (s *Site) keyFromPair(pair string) *shopKey {
	id, secret, _ := strings.Cut(pair, ":")
	if k := s.shopKey(id); k != nil && equal(k.secret, secret) {
		return k
	}
	return nil
}
