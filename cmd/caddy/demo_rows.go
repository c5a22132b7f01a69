package main

// trial is a row of the demo's table: the same requests to the bare platform and through
// the gateway. To add one, write it into attackTrials or honestTrials.
type trial struct {
	what string
	try  func(v *visitor) result
	// fixed are the releases of the shop, or the versions of the cookie plugin, in which
	// the platform itself refuses the attack.
	fixed []string
}

var attackTrials = []trial{
	{what: "user names", try: userNames("GET {rest}/{core}/users", "")},
	{what: "user names, by ?rest_route=", try: userNames("GET /?rest_route=/{core}/users", "")},
	{what: "user names, by ?rest.route=", try: userNames("GET /?rest.route=/{core}/users", "")},
	{what: "user names, form overridden to GET", try: userNames("POST /", "rest_route=/{core}/users", "X-HTTP-Method-Override: GET")},
	{what: "user names, at the posts' address", try: userNames("GET {rest}/{core}/posts?rest_route=/{core}/users", "")},
	{what: "feed plugin, stored secrets", try: storedSecrets},
	{what: "order update of a subscription", try: convertAlone, fixed: []string{"10.8", "11.1"}},
	{what: "the same as part of a batch", try: convertInBatch, fixed: []string{"10.8", "11.1"}},
	{what: "computed refund that books 0.00", try: computedRefund, fixed: []string{"11.1"}},
	{what: "checkout after the total changed", try: checkoutChanged, fixed: []string{"11.1"}},
	{what: "cookie plugin, upload of a file", try: uploadLogo, fixed: []string{"4.4.2"}},
	{what: "cookie plugin, unsigned store-auth", try: storeAuthUnsigned, fixed: []string{"4.4.2"}},
	{what: "cookie plugin, replayed store-auth", try: storeAuthReplayed},
	{what: "agent deletes a product", try: agentDeletes},
	{what: "agent completes order by a detour", try: agentCompletes},
}

var honestTrials = []trial{
	{what: "a page", try: expect("GET /", "", "<html", "the page")},
	{what: "choice in the consent banner", try: expect("POST {consent}", `{"choice":"all"}`, `"success":true`, "recorded")},
	{what: "payment notification", try: expect("POST {notify}", `{"event":"paid"}`, `"received":true`, "received")},
	{what: "a post saved in the block editor", try: savePost},
	{what: "update of a real order", try: updateOrder},
	{what: "checkout at the total on display", try: checkoutSeen},
	{what: "agent looks for products", try: agentReads},
	{what: "cookie plugin, signed store-auth", try: storeAuthSigned},
}
