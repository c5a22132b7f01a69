package call

// What the tests of package call_test share with those of this package.
var (
	ReaderFor = readerFor
	OrderOf   = orderOf
	Describe  = describe
)

// NamesRoute tells whether the reading takes the value of a place for a route.
func NamesRoute(value, route string) bool {
	dispatched, ok := dispatched(value)
	return value == route || ok && dispatched == route
}

// PlainID is the id that the reading takes the value of a place for.
func PlainID(value string) (string, bool) { return objectID(value) }
