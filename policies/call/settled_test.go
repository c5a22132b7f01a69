package call

import (
	"reflect"
	"testing"
)

// TestJoints_Settled: a call that is sent on holds no joints, and tells the same.
func TestJoints_Settled(t *testing.T) {
	rd := readerFor("root")
	c := rd.Read(request("GET", "/wp-json/wc/v3/orders/7?idsi=x&=9&utm_a=b+c&page=2", "", ""), nil)
	defer c.Close()
	for range 2 {
		if _, _, err := c.ObjectID(); err == nil {
			t.Error("the id is certain")
		}
		if page, set := c.QueryVariable("page"); page != "" || !set {
			t.Errorf("page is %q, %t", page, set)
		}
		c.Settle()
		if !reflect.ValueOf(c.src.changed).Elem().FieldByName("joints").IsNil() {
			t.Error("joints are held")
		}
	}
}
