vcl 4.1;
import std;
backend nginx {
	.host = "127.0.0.1";
	.port = "{{.Nginx}}";
}
backend lighttpd {
	.host = "127.0.0.1";
	.port = "{{.Lighttpd}}";
}
# What the example for shops cuts.
sub shop {
	if (req.url ~ "(\?|&)(gclid|cx|ie|cof|siteurl|zanpid|origin|fbclid|mc_[a-z]+|utm_[a-z]+|_bta_[a-z]+)=") {
		set req.url = regsuball(req.url, "(gclid|cx|ie|cof|siteurl|zanpid|origin|fbclid|mc_[a-z]+|utm_[a-z]+|_bta_[a-z]+)=[-_A-z0-9+()%.]+&?", "");
		set req.url = regsub(req.url, "[?|&]+$", "");
	}
}
# What the template for WordPress cuts.
sub template {
	if (req.url ~ "(\?|&)(utm_source|utm_medium|utm_campaign|utm_content|gclid|cx|ie|cof|siteurl)=") {
		set req.url = regsuball(req.url, "&(utm_source|utm_medium|utm_campaign|utm_content|gclid|cx|ie|cof|siteurl)=([A-z0-9_\-\.%25]+)", "");
		set req.url = regsuball(req.url, "\?(utm_source|utm_medium|utm_campaign|utm_content|gclid|cx|ie|cof|siteurl)=([A-z0-9_\-\.%25]+)", "?");
		set req.url = regsub(req.url, "\?&", "?");
		set req.url = regsub(req.url, "\?$", "");
	}
}
# A line that somebody added for other names, as the oldest examples cut values.
sub later {
	set req.url = regsuball(req.url, "(fbclid|msclkid|si|ttclid)=[-_A-z0-9]+&?", "");
	set req.url = regsub(req.url, "[?|&]+$", "");
}
sub vcl_recv {
	set req.backend_hint = nginx;
	if (local.socket == "small") {
		set req.url = std.tolower(req.url);
		call shop;
	} else if (local.socket == "sorted") {
		set req.url = std.querysort(req.url);
		call template;
		call later;
	} else {
		set req.backend_hint = lighttpd;
		call shop;
		call later;
	}
	return (pass);
}
