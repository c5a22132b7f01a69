package site

// defaultServer has the adapter's three tools, by which an agent finds and runs every
// public ability (docs/platform IV.3, 5 to 7).
func (s *Site) defaultServer() *toolServer {
	anything := obj{"type": "object"}
	named := obj{"type": "object", "required": []any{"ability_name"}, "properties": obj{"ability_name": obj{"type": "string"}}}
	execute := obj{
		"type": "object", "required": []any{"ability_name", "parameters"},
		"properties": obj{"ability_name": obj{"type": "string"}, "parameters": obj{"type": "object"}},
	}
	hints := obj{"readOnlyHint": true, "destructiveHint": false, "idempotentHint": true}
	return &toolServer{
		namespace: "mcp", route: "/mcp-adapter-default-server", name: "MCP Adapter Default Server",
		tools: []*tool{
			{
				name: "mcp-adapter-discover-abilities", title: "Discover Abilities", description: "Lists the abilities for agents.",
				input: anything, annotations: hints, run: discoverAbilities,
			},
			{
				name: "mcp-adapter-get-ability-info", title: "Get Ability Info", description: "Describes an ability.",
				input: named, annotations: hints, run: abilityInfo,
			},
			{
				name: "mcp-adapter-execute-ability", title: "Execute Ability", description: "Runs an ability.",
				input: execute, annotations: obj{"readOnlyHint": false, "destructiveHint": true, "idempotentHint": false}, run: executeAbility,
			},
		},
	}
}

// shopServer is a custom server: it offers what its author lists, an ability that is
// neither public nor shown in REST, and a tool that is no ability (docs/platform IV.3, 4).
func (s *Site) shopServer() *toolServer {
	v := &toolServer{namespace: s.names.shop + "-agent/v1", route: "/mcp", name: "Shop"}
	for _, a := range s.abilities {
		switch {
		case a.category != s.names.shop:
		case a.kind == kindResource:
			v.resources = append(v.resources, a)
		case a.kind == kindPrompt:
			v.prompts = append(v.prompts, a)
		default:
			v.tools = append(v.tools, a.tool())
		}
	}
	v.tools = append(v.tools, &tool{
		name: "store_hours", title: "Opening hours", description: "Tells when the shop is open.", input: obj{"type": "object"},
		annotations: obj{"readOnlyHint": true},
		run: func(q *request, input obj) (any, error) {
			q.ran("store_hours", input)
			return obj{"monday": "9-17"}, nil
		},
	})
	return v
}

func discoverAbilities(q *request, _ obj) (any, error) {
	found := []obj{}
	for _, a := range q.site.abilities {
		if a.public && a.kind == "" {
			found = append(found, obj{"name": a.id, "label": a.label, "description": a.description})
		}
	}
	return obj{"abilities": found}, nil
}

func abilityInfo(q *request, input obj) (any, error) {
	a, err := publicAbility(q, input)
	if err != nil {
		return nil, err
	}
	return a.json(), nil
}

func executeAbility(q *request, input obj) (any, error) {
	a, err := publicAbility(q, input)
	if err != nil {
		return nil, err
	}
	parameters := object(input["parameters"])
	if parameters == nil {
		return nil, toolError(`Ability "mcp-adapter/execute-ability" has invalid input. Reason: input[parameters] is not of type object.`)
	}
	result, err := a.runForAgent(q, parameters)
	if err != nil {
		return nil, err
	}
	return obj{"success": true, "data": result}, nil
}

// publicAbility is the one that the input names exactly, if agents may have it.
func publicAbility(q *request, input obj) (*ability, error) {
	id, isText := input["ability_name"].(string)
	if !isText || id == "" {
		return nil, toolError("Ability name is required")
	}
	for _, a := range q.site.abilities {
		switch {
		case a.id != id:
		case !a.public:
			return nil, toolError(`Ability "` + id + `" is not exposed via MCP (mcp.public!=true)`)
		default:
			return a, nil
		}
	}
	return nil, toolError("Ability '" + id + "' not found")
}
