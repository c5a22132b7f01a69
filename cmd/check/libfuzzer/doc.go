// Package libfuzzer lets libFuzzer drive the fuzz targets of the tests as they stand, through package testing itself. OSS-Fuzz
// builds with it: see .github/oss-fuzz. The build tag libfuzzer is that of Go's own runtime.
package libfuzzer
