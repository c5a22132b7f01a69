package call

// What the tests of package call_test share with those of this package.
var (
	ReaderFor = readerFor
	OrderOf   = orderOf
	Describe  = describe
)
