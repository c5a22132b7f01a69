#!/bin/sh
# What gremlins runs for the go command. By itself it takes the conditions of a switch for code that no test reaches,
# since coverage knows only what stands behind them. It finds the package of a mutant by the package's name, which is
# not always that of its directory, and runs the tests of that one package. And it takes a mutant that does not compile,
# or that go vet refuses, for one that the tests have noticed.
[ "$1" = test ] || exec "$MUTATION_GO" "$@"
# MUTATION_TESTS is several words.
# shellcheck disable=SC2086
tests() {
	"$MUTATION_GO" test -vet=off -failfast -timeout="$MUTATION_LIMIT" $MUTATION_TESTS
}
for word; do
	if [ "$last" = -coverprofile ]; then
		echo "mode: set" >"$word"
		for file in "$MUTATION_DIR"/*.go; do
			echo "$MUTATION_PACKAGE/${file##*/}:1.1,99999.1 1 1" >>"$word"
		done
		tests
		exit
	fi
	last=$word
done
"$MUTATION_GO" build "$MUTATION_PACKAGE" || exit 2
tests
