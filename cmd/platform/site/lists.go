package site

import "slices"

// collection are the arguments of every list.
var collection = args{
	"page":     {Type: "integer", Default: 1, Min: 1, Max: 1 << 31},
	"per_page": {Type: "integer", Default: 10, Min: 1, Max: 100},
	"offset":   {Type: "integer", Min: 0, Max: 1 << 31},
	"search":   {Type: "string"},
	"include":  {Type: "array"},
	"exclude":  {Type: "array"},
}

// ordered are the arguments that sort a list: by the first of keys and in the
// direction given, unless the caller says otherwise.
func ordered(direction string, keys ...string) args {
	return args{
		"orderby": {Type: "string", Default: keys[0], Enum: keys},
		"order":   {Type: "string", Default: direction, Enum: []string{"asc", "desc"}},
	}
}

// arrange sorts items as the arguments of ordered say.
func arrange[T any](q *request, items []T, by map[string]func(a, b T) int) {
	compare := by[q.str("orderby")]
	if q.str("order") == "desc" {
		ascending := compare
		compare = func(a, b T) int { return ascending(b, a) }
	}
	slices.SortStableFunc(items, compare)
}

// page cuts what per_page and page, or offset, ask for out of items and sets
// the headers with the totals. It is never nil, so that an empty list is [].
func page[T any](q *request, items []T) []T {
	per := max(q.int("per_page"), 1)
	q.total(len(items), per)
	start := (max(q.int("page"), 1) - 1) * per
	if q.has("offset") {
		start = q.int("offset")
	}
	start = min(start, len(items))
	return append([]T{}, items[start:min(start+per, len(items))]...)
}
