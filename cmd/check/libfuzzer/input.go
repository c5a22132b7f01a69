package libfuzzer

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"strings"
)

// decode makes the arguments of a target out of the bytes of libFuzzer. Numbers stand first, in eight bytes each at most, then
// strings and bytes: two bytes of length before each but the last, which takes the rest. Bytes that are missing are 0.
func decode(data []byte, types []reflect.Type) []any {
	values := make([]any, len(types))
	last := -1
	for i, t := range types {
		if !isText(t) {
			var number [8]byte
			data = data[copy(number[:t.Size()], data):]
			values[i] = number2value(binary.LittleEndian.Uint64(number[:]), t)
		} else {
			last = i
		}
	}
	for i, t := range types {
		if !isText(t) {
			continue
		}
		text := data
		if i != last {
			var length [2]byte
			data = data[copy(length[:], data):]
			n := min(int(binary.LittleEndian.Uint16(length[:])), len(data))
			text, data = data[:n], data[n:]
		}
		values[i] = reflect.ValueOf(append([]byte{}, text...)).Convert(t).Interface()
	}
	return values
}

// encode is the reverse of decode. A text over 64 KiB that is not the last one is cut.
func encode(values []any) []byte {
	var numbers, texts []byte
	var rest []byte // the last text
	for _, v := range values {
		value := reflect.ValueOf(v)
		if !isText(value.Type()) {
			numbers = append(numbers, binary.LittleEndian.AppendUint64(nil, value2number(value))[:value.Type().Size()]...)
			continue
		}
		texts = append(texts, rest...)
		rest = value.Convert(reflect.TypeFor[[]byte]()).Bytes()
		rest = append(binary.LittleEndian.AppendUint16(nil, uint16(min(len(rest), math.MaxUint16))), rest[:min(len(rest), math.MaxUint16)]...)
	}
	return append(append(numbers, texts...), rest[min(2, len(rest)):]...)
}

func isText(t reflect.Type) bool { return t.Kind() == reflect.String || t.Kind() == reflect.Slice }

func number2value(n uint64, t reflect.Type) any {
	value := reflect.New(t).Elem()
	switch t.Kind() {
	case reflect.Bool:
		value.SetBool(n&1 == 1)
	case reflect.Float32:
		value.SetFloat(float64(math.Float32frombits(uint32(n))))
	case reflect.Float64:
		value.SetFloat(math.Float64frombits(n))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		shift := 64 - t.Bits()
		value.SetInt(int64(n<<shift) >> shift)
	default:
		value.SetUint(n)
	}
	return value.Interface()
}

func value2number(v reflect.Value) uint64 {
	switch {
	case v.Kind() == reflect.Bool && v.Bool():
		return 1
	case v.Kind() == reflect.Bool:
		return 0
	case v.Kind() == reflect.Float32:
		return uint64(math.Float32bits(float32(v.Float())))
	case v.CanFloat():
		return math.Float64bits(v.Float())
	case v.CanInt():
		return uint64(v.Int())
	}
	return v.Uint()
}

// corpusFile writes arguments as a file below testdata/fuzz has them, to replay them with go test.
func corpusFile(values []any) string {
	var file strings.Builder
	file.WriteString("go test fuzz v1\n")
	for _, v := range values {
		switch v := v.(type) {
		case string, []byte:
			fmt.Fprintf(&file, "%T(%q)\n", v, v)
		default:
			fmt.Fprintf(&file, "%T(%v)\n", v, v)
		}
	}
	return strings.ReplaceAll(file.String(), "[]uint8(", "[]byte(")
}
