#!/bin/bash -eu
# Builds every fuzz target of the tree for libFuzzer, as OSS-Fuzz asks for it: one program each in $OUT, with its seeds.
# Arguments are folders to take the targets from, as ./policies/call; without any it takes all. --list prints the programs alone.
cd "$(dirname "$(realpath "$0")")/../.."
list=
if [[ ${1-} == --list ]]; then
	list=yes
	shift
fi

targets='^func (Fuzz[A-Za-z0-9_]*)\([a-z]* ?\*testing\.F\).*'
mapfile -t files < <(grep -rlE --include=*_test.go "$targets" "${@:-.}" | sort)
mapfile -t packages < <(printf '%s\n' "${files[@]%/*}" | sort -u)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Beside each file with targets an overlay puts one that registers them. The tree stays as it is.
for i in "${!files[@]}"; do
	{
		printf '//go:build libfuzzer\n\n'
		grep -m1 '^package ' "${files[i]}"
		printf 'import "github.com/restwarden/restwarden/cmd/check/libfuzzer"\n'
		folder=${files[i]%/*}
		sed -nE "s|$targets|func init() { libfuzzer.Target(\"${folder#./}\", \"\1\", \1) }|p" "${files[i]}"
	} >"$work/$i.go"
	printf '"%s":"%s"\n' "$PWD/${files[i]#./}" "$work/$i.go"
done | sed 's/_test\.go":/_libfuzzer_test.go":/' | paste -sd, | sed 's/.*/{"Replace":{&}}/' >"$work/overlay.json"

# Targets take seeds from files: these lie in the programs' own tree, as in the repository.
if [[ ! $list ]]; then
	mkdir -p "$OUT/tree/docs"
	cp -r docs/examples "$OUT/tree/docs/"
fi

# One program for a package, under the name of each of its targets: the name says which one runs.
for package in "${packages[@]}"; do
	prefix=${package#./}
	mapfile -t programs < <(cat "$package"/*_test.go | sed -nE "s/$targets/${prefix//\//_}_\1/p")
	if [[ $list ]]; then
		printf '%s\n' "${programs[@]}"
		continue
	fi
	mkdir -p "$OUT/tree/$prefix"
	[[ ! -d $package/testdata ]] || cp -r "$package/testdata" "$OUT/tree/$prefix/"
	CGO_ENABLED=1 go test -c -buildmode=c-archive -tags=libfuzzer -gcflags=all=-d=libfuzzer -overlay="$work/overlay.json" -o "$work/tests.a" "./$prefix"
	# shellcheck disable=SC2086 # these are several words
	$CXX $CXXFLAGS $LIB_FUZZING_ENGINE "$work/tests.a" -o "$work/program"
	for program in "${programs[@]}"; do
		cp "$work/program" "$OUT/$program"
		mkdir "$work/seeds"
		LIBFUZZER_SEEDS=$work/seeds "$OUT/$program"
		(cd "$work/seeds" && zip -qr "$OUT/${program}_seed_corpus.zip" .)
		rm -r "$work/seeds"
	done
	rm "$work/program"
done
