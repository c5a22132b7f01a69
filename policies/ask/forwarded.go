package ask

// ForwardedHeaders say who the client is and by which proxies it came. Questions carry those of the request that causes them.
var ForwardedHeaders = []string{
	"User-Agent", "Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Port",
	"X-Forwarded-Server", "X-Forwarded-Ssl", "X-Real-Ip", "Cf-Connecting-Ip", "Cf-Visitor", "True-Client-Ip",
	"X-Forwarded-Scheme", "X-Proto", "Cloudfront-Forwarded-Proto", "X-Arr-Ssl", // by which plugins tell https
}
