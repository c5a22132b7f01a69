// What Caddy tells

let source, retry;

function connect() {
	source = new EventSource("events");
	source.addEventListener("refusals", e => happened(JSON.parse(e.data)));
	source.addEventListener("caddy", e => {
		const {problem} = JSON.parse(e.data);
		live({events: problem});
		if (!problem) refresh();
	});
	source.onerror = () => {
		live({events: "the server of this page does not answer"});
		if (source.readyState === EventSource.CLOSED) retry = setTimeout(reconnect, 5000); // a proxy has answered in its place
	};
}

function reconnect() {
	clearTimeout(retry);
	source.close();
	if (!document.hidden) connect();
}

const trouble = {events: "connecting", sites: ""}; // why the page is not live

function live(change) {
	Object.assign(trouble, change);
	const text = trouble.events || trouble.sites;
	if ($("live").textContent === (text || "live")) return; // said aloud once
	$("live").textContent = text || "live";
	$("live").className = text ? "bad" : "good";
}

function refresh() {
	if (document.hidden) return;
	load().then(() => {
		live({sites: ""});
		if (only) history(only);
	}, error => live({sites: error.message}));
}

// A page that nobody sees asks for nothing.
document.addEventListener("visibilitychange", reconnect);

if (!only) switches();
$("find-refusal").addEventListener("input", redraw);
$("pause").addEventListener("click", () => {
	paused = !paused;
	$("pause").setAttribute("aria-pressed", String(paused));
	$("pause").textContent = paused ? "Go on" : "Pause";
	redraw();
});
setInterval(refresh, 10000);
setInterval(redraw, 5000);
connect();
