package site

import (
	"maps"
	"net/http"
)

// Error is the error object of the interface: {code, message, data:{status}}
// (docs/project/interface 2).
type Error struct {
	Status  int
	Code    string
	Message string
	Data    obj // beside status
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

// body is e as JSON shows it.
func (e *Error) body() obj {
	data := obj{"status": e.Status}
	maps.Copy(data, e.Data)
	return obj{"code": e.Code, "message": e.Message, "data": data}
}

// inOrder gives an error object the order of members that the platform writes;
// anything else is returned as it is.
func inOrder(body any) any {
	o, ok := body.(obj)
	if !ok || len(o) != 3 || o["code"] == nil || o["message"] == nil || o["data"] == nil {
		return body
	}
	return struct {
		Code    any `json:"code"`
		Message any `json:"message"`
		Data    any `json:"data"`
	}{o["code"], o["message"], o["data"]}
}

func fail(status int, code, message string) *Error {
	return &Error{Status: status, Code: code, Message: message}
}

func errNoRoute() *Error {
	return fail(http.StatusNotFound, "rest_no_route", "No route was found matching the URL and request method.")
}

// errFatal is what the platform answers after a PHP fatal error.
func errFatal() *Error {
	return fail(http.StatusInternalServerError, "internal_server_error", "There has been a critical error on this website.")
}

func errInvalidParam(name, reason string) *Error {
	return &Error{
		Status: http.StatusBadRequest, Code: "rest_invalid_param", Message: "Invalid parameter(s): " + name,
		Data: obj{"params": obj{name: reason}},
	}
}

func errMissingParam(name string) *Error {
	return &Error{
		Status: http.StatusBadRequest, Code: "rest_missing_callback_param", Message: "Missing parameter(s): " + name,
		Data: obj{"params": []any{name}},
	}
}

// denied is the refusal of a permission check: 401 to anonymous callers, 403
// to users without the right (docs/platform III.8).
func (q *request) denied(code, message string) *Error {
	switch {
	case q.lostLogin():
		return q.site.errNotLoggedIn()
	case q.user == nil:
		return fail(http.StatusUnauthorized, code, message)
	}
	return fail(http.StatusForbidden, code, message)
}

// forbidden is the refusal of a guard, to anonymous callers too (docs/project/interface 7).
func (q *request) forbidden() *Error {
	if q.lostLogin() {
		return q.site.errNotLoggedIn()
	}
	return fail(http.StatusForbidden, "rest_forbidden", "Sorry, you are not allowed to do that.")
}
