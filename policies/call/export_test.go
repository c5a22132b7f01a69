package call

// What the tests of package call_test share with those of this package.
type (
	Recording = recording
	Outcome   = outcome
)

var (
	Recordings = recordings
	ReaderFor  = readerFor
	OrderOf    = orderOf
	Describe   = describe
)
