"use strict";
// The page of one site has its name here; that of all sites has "".
const only = document.body.dataset.site;
const shownRefusals = 300;
const names = new Intl.Collator(undefined, {numeric: true}); // shop-2 before shop-10
const $ = id => document.getElementById(id);
const sites = new Map(); // name -> {status, all, seen, row, text}
const known = new Set(); // keys of the refusals that the page has
let refusals = []; // the newest first
let recent = []; // [time, count] of the last minute
let seen = 0, missed = 0, paused = false, picked = only, dirty = false;

const make = (tag, className, ...content) => {
	const e = document.createElement(tag);
	e.className = className;
	e.append(...content);
	return e;
};
const clock = text => new Date(text).toLocaleTimeString([], {hour12: false});
function until(text) {
	const end = new Date(text), day = end.toDateString() === new Date().toDateString() ? undefined : "short";
	return "until " + end.toLocaleString([], {dateStyle: day, timeStyle: "short", hour12: false});
}

async function ask(path, body) {
	const res = await fetch(path, body && {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body)});
	const answer = await res.json().catch(() => ({error: `the server of this page answers ${res.status}`}));
	if (!res.ok) throw new Error(answer.error);
	return answer;
}

function say(text, className = "") {
	$("said").textContent = text;
	$("said").className = className;
}

// State of a site

function states(s) {
	const all = [];
	if (s.lockdown) all.push(make("span", "bad", `${s.lockdown.hard ? "hard lockdown" : "lockdown"} ${until(s.lockdown.until)}`));
	if (s.mode === "observe") all.push(make("span", "odd", s.mode_until ? `observes ${until(s.mode_until)}` : "observes"));
	else all.push(make("span", "good", s.mode_until ? `enforces ${until(s.mode_until)}` : "enforces"));
	if (s.opens) all.push(make("span", "odd", `${s.opens.length} open`));
	if (s.closes) all.push(make("span", "bad", `${s.closes.length} closed`));
	return all.flatMap((e, i) => i ? [", ", e] : [e]);
}

// lines are those that are switched on, each with its first word.
const lines = s => [...(s.opens ?? []).map(line => ["open", line]), ...(s.closes ?? []).map(line => ["close", line])];

// statesOf has the state on each port where they differ.
const statesOf = site => site.all.length === 1 ? states(site.status) : site.all.flatMap((s, i) => [i ? "; " : "", s.listen ? `${s.listen.join(", ")}: ` : "", ...states(s)]);
const unique = problems => [...new Map(problems.map(p => [JSON.stringify(p), p])).values()];

async function load() {
	const answer = await ask("sites");
	const guarded = new Set(answer.sites.map(s => s.site));
	for (const [name, site] of sites) if (!guarded.has(name)) { site.row?.remove(); sites.delete(name); }
	for (const site of sites.values()) site.all = [];
	for (const status of answer.sites) {
		const site = sites.get(status.site) ?? {seen: 0, all: []};
		site.all.push(status); // more than one where directives guard it on ports of their own
		sites.set(status.site, site);
	}
	for (const site of sites.values()) site.status = {...site.all[0], problems: unique(site.all.flatMap(s => s.problems))};
	const store = answer.store;
	if (!only) $("store").textContent = store && !store.reachable ? `Redis cannot be reached since ${new Date(store.since).toLocaleString()}: ${store.error}` : "";
	if (picked && !only && !guarded.has(picked)) {
		const gone = picked;
		pick("");
		say(`${gone} is not guarded any more.`, "odd");
	}
	arrange();
	redraw();
}

// Sites

function arrange() {
	if (only) return;
	const by = {
		name: () => 0,
		refusals: (a, b) => b.seen - a.seen || refusalsOf(b) - refusalsOf(a),
		problems: (a, b) => b.status.problems.length - a.status.problems.length,
	}[$("order").value];
	const sorted = [...sites.values()].sort((a, b) => by(a, b) || names.compare(a.status.site, b.status.site));
	const rows = $("rows");
	sorted.forEach((site, i) => {
		site.row ??= make("tr", "");
		if (rows.children[i] !== site.row) rows.insertBefore(site.row, rows.children[i] ?? null);
	});
}

const fits = {
	"": () => true,
	problems: site => site.status.problems.length > 0,
	observe: site => site.all.some(s => s.mode === "observe"),
	lockdown: site => Boolean(site.status.lockdown),
	refusing: site => site.seen > 0 || site.status.refusals > 0,
};

// refusalsOf counts what Caddy has kept of a site, a hundred at most, or more if the page has
// seen more.
const refusalsOf = site => Math.max(site.seen, site.status.refusals);
const counted = site => `${refusalsOf(site)}${refusalsOf(site) === 100 ? "+" : ""}`;

function drawSites() {
	const word = $("find-site").value.trim().toLowerCase(), which = fits[$("which").value];
	let shown = 0;
	for (const [name, site] of sites) {
		site.row.hidden = !(name.toLowerCase().includes(word) && which(site));
		if (!site.row.hidden) shown++;
		site.row.className = name === picked ? "picked" : "";
		const text = JSON.stringify([site.all.map(s => [s.mode, s.mode_until, s.listen]), site.status.lockdown, lines(site.status).length, site.status.release, site.status.problems.length]);
		const refused = counted(site);
		if (site.drawn !== refused && site.text) site.row.cells[3].textContent = site.drawn = refused;
		if (text === site.text) continue;
		site.text = text;
		site.drawn = refused;
		const open = make("button", "", name);
		open.type = "button";
		open.addEventListener("click", () => pick(name));
		site.row.replaceChildren(make("td", "", open), make("td", "", ...statesOf(site)), make("td", "", site.status.release === "unknown" ? "–" : site.status.release),
			make("td", "number", refused), make("td", site.status.problems.length ? "number bad" : "number", String(site.status.problems.length)));
	}
	$("no-site").hidden = shown > 0 || sites.size === 0;
	const count = which => [...sites.values()].filter(which).length;
	$("count-sites").textContent = sites.size;
	$("unlock-all").hidden = count(site => site.status.lockdown?.all) === 0;
	for (const which of ["lockdown", "observe", "problems"]) $("count-" + which).textContent = count(fits[which]);
}

// One site

function pick(name) {
	picked = name;
	say("");
	redraw();
	if (!name) return;
	requestAnimationFrame(() => $("detail").scrollIntoView({block: "nearest"})); // once it is drawn
	history(name);
}

// history adds what Caddy has kept of a site.
function history(name) {
	ask("refusals?site=" + encodeURIComponent(name)).then(answer => add(answer.refusals.reverse()), error => say(error.message, "bad"));
}

function drawDetail() {
	const site = sites.get(picked), status = site?.status;
	$("detail").hidden = !status;
	if (!status) return;
	const facts = [["state", ...statesOf(site)], ["in the Caddyfile", status.configured_mode === "observe" ? "observes: refuses nothing" : "enforces"], ["platform", `${status.platform}, shop release ${status.release}${status.release_source ? ` (by the ${status.release_source})` : ""}`]];
	for (const [word, line] of lines(status)) facts.push([word, make("code", "", line.line), ` ${line.until ? until(line.until) : "until it is taken back"}, since ${new Date(line.since).toLocaleString()}${line.by ? ` by ${line.operator ? `${line.operator}${line.claimed ? ", claimed" : ""} (${line.by})` : line.by}` : ""}`]);
	for (const p of status.problems) facts.push(["problem", make("span", "bad", `${p.code}: ${p.problem}${p.at ? ` (${p.at})` : ""}`)]);
	if (!only) for (const [kind, q] of Object.entries(status.questions ?? {}).sort()) {
		const mean = q.asked ? `, ${Math.round(1000 * q.seconds / q.asked)} ms each` : "";
		facts.push([`questions: ${kind}`, `${q.asked} asked${mean}, ${q.known} known, `, make("span", q.failed ? "bad" : "", `${q.failed} failed`), q.error ? `; the last: ${q.error}` : ""]);
	}
	if (status.routes) facts.push(["REST routes", `${status.routes.count}` + (status.routes.changed_at ? `; ${status.routes.added} came and ${status.routes.removed} went ${new Date(status.routes.changed_at).toLocaleString()}` : "")]);
	if (status.misread?.count) facts.push(["misread pages", make("span", "bad", `${status.misread.count}, the last ${new Date(status.misread.last).toLocaleString()}: the REST interface answered, and no rule had judged the call`)]);
	if (status.misread?.unguarded) facts.push(["misread pages", `not told by ${status.misread.unguarded.join(", ")}: the site's own pages have it`]);
	for (const scope of status.scopes ?? []) {
		const days = scope.days_left === undefined ? "" : scope.days_left < 0 ? ", ended" : `, ${scope.days_left} days left`;
		facts.push([`scope ${scope.scope}`, `${scope.mode}, ${scope.last_use ? `last use ${new Date(scope.last_use).toLocaleString()}` : "no use yet"}, refusals: ${scope.refusals}, would refuse: ${scope.would_refuse}${days}`]);
	}
	if (status.spool) facts.push(["bodies on disk", `${(status.spool.bytes / 2 ** 20).toFixed(1)} of ${Math.round(status.spool.limit / 2 ** 20)} MiB`]);
	$("name").textContent = only ? "State" : picked;
	const text = JSON.stringify([status, site.all]);
	if (text !== $("facts").dataset.drawn) { // else a person may be copying from it
		$("facts").replaceChildren(...facts.flatMap(([name, ...content]) => [make("dt", "", name), make("dd", "", ...content)]));
		$("facts").dataset.drawn = text;
	}
	if (only) return;
	const address = new URL(status.page, location.href).href;
	if ($("link").href !== address) { $("link").href = address; $("link").textContent = address; }
	$("enforce").hidden = !status.mode_until;
	$("enforce").textContent = status.mode === "observe" ? "End observing" : "End enforcing";
	$("unlock").hidden = !status.lockdown || status.lockdown.all;
}

// Refusals

const keyOf = r => `${r.time} ${r.request_id} ${r.route}`;

function add(records) {
	for (const r of records) {
		if (known.has(keyOf(r))) continue;
		known.add(keyOf(r));
		refusals.unshift(r);
	}
	refusals.sort((a, b) => new Date(b.time) - new Date(a.time));
	refusals = refusals.filter((r, i) => i < 2 * shownRefusals || r.site === picked || !known.delete(keyOf(r)));
	redraw();
}

function happened(news) {
	let count = 0;
	for (const [name, n] of Object.entries(news.counts ?? {})) {
		count += n;
		const site = sites.get(name);
		if (site) site.seen += n;
	}
	seen += count;
	missed += news.lost;
	if (count) recent.push([Date.now(), count]);
	add(news.records ?? []);
}

const ruleOf = r => r.rule || r.policy;

// The owner of a shop reads what happened, and no names of the gateway's.
const happenedTo = {rest_not_logged_in: "needs a login", rest_forbidden: "not allowed", rest_no_route: "hidden", rest_ambiguous_request: "unclear request", rest_invalid_param: "wrong value",
	rest_policy_unavailable: "could not be checked", rest_request_too_large: "too large", rest_invalid_signature: "not signed", rest_too_many_requests: "too many calls", rest_confirmation_required: "waits for a person", platform: "refused by the site itself"};

function entry(r) {
	const summary = make("summary", "", make("span", "faint", clock(r.time)));
	if (!only) summary.append(make("span", "", r.site));
	const code = only ? happenedTo[r.code] ?? r.code : r.code, refused = r.outcome === "refused";
	summary.append(make("span", refused ? "bad" : "odd", refused ? code : only ? `only observed: ${code}` : `would be ${code}`),
		make("code", "", only && r.route === "unknown" ? "an unknown address" : `${r.method} ${r.route}`), " ");
	if (!only) summary.append(make("span", "faint", ruleOf(r)));
	const facts = [["why", r.why], ["policy", `${r.policy}${r.rule ? `, rule ${ruleOf(r)}` : ""}`], ["credential", r.credential && credentialOf(r.credential)], ["code", only && r.code], ["at", r.at], ["imported", r.imported], ["from", `${r.client_ip}, ${callers[r.caller] ?? r.caller}${r.user_id ? ` ${r.user_id}` : ""}, ${{page: "by a page of the site", other: "not by a page of the site", none: "nothing says by which page"}[r.from]}`],
		["line that lets it pass", r.remedy], ["error", r.error], ["request id", r.request_id]].filter(([, text]) => text);
	const details = make("details", "", summary);
	details.addEventListener("toggle", () => details.append(make("dl", "", ...facts.flatMap(([name, text]) => [make("dt", "", name), make("dd", "", text)]))), {once: true});
	return details;
}

const credentialOf = c => [[c.kind, c.key, c.uuid, c.login].filter(Boolean).join(" "), c.scope && `scope ${c.scope}`, c.claimed && "which nobody has verified"].filter(Boolean).join(", ");

const callers = {"": "who called was not asked", anonymous: "without a login", user: "user", key: "with a shop key", unverified: "with a login that only the site can check"};

const entries = new Map(); // key -> element, so that an open one stays open

function drawRefusals() {
	const minute = Date.now() - 60000;
	recent = recent.filter(([time]) => time > minute);
	$("count-minute").textContent = recent.reduce((sum, [, n]) => sum + n, 0);
	$("count-seen").textContent = seen;
	if (paused) return;
	const word = $("find-refusal").value.trim().toLowerCase();
	const found = refusals.filter(r => (!picked || r.site === picked) && (!word || Object.values(r).join(" ").toLowerCase().includes(word)));
	const shown = found.slice(0, shownRefusals), keys = new Set(shown.map(keyOf));
	for (const [key, e] of entries) if (!keys.has(key)) { e.remove(); entries.delete(key); }
	const list = $("list");
	shown.forEach((r, i) => {
		const key = keyOf(r);
		if (!entries.has(key)) entries.set(key, make("li", "", entry(r)));
		if (list.children[i] !== entries.get(key)) list.insertBefore(entries.get(key), list.children[i] ?? null);
	});
	$("no-refusal").hidden = shown.length > 0;
	$("no-refusal").textContent = refusals.length ? "No refusal fits." : "Nothing was refused yet.";
	const lost = missed ? `Caddy was too busy to tell of ${missed}. ` : "";
	$("more").textContent = lost + (found.length > shown.length || seen > refusals.length ? `The last ${shown.length} are here; the log has all.` : "");
}

function redraw() {
	if (dirty) return;
	dirty = true;
	requestAnimationFrame(() => {
		dirty = false;
		if (!only) drawSites();
		drawDetail();
		drawRefusals();
	});
}

// Switches

function sure(question, act) {
	$("question").textContent = question;
	$("sure").showModal();
	$("yes").onclick = async () => {
		$("sure").close();
		try {
			const answer = await act();
			const what = answer.lockdown ? `${answer.lockdown.hard ? "hard lockdown" : "lockdown"} ${until(answer.lockdown.until)}` : answer.site || !answer.sites ? "no lockdown" : `lockdowns of their own on ${answer.sites}`;
			const mode = answer.mode ? `mode ${answer.mode}${answer.mode_until ? " " + until(answer.mode_until) : ""}, ` : "";
			say(`${answer.site || "All sites"}: ${mode}${what}, on ${answer.gateways === "all" ? "all gateways" : "this gateway"}. ${answer.error ?? ""}`, answer.error ? "odd" : "good");
			await load();
		} catch (error) {
			say(error.message, "bad");
		}
	};
}

function switches() {
	const time = (id = "for") => [$(id).value, $(id).selectedOptions[0].textContent];
	const on = (id, act) => $(id).addEventListener("click", act);
	on("observe", () => {
		const [value, text] = time(), site = picked, locked = sites.get(site)?.status.lockdown;
		sure(`Let ${site} observe for ${text}? Until then it refuses nothing${locked ? " but what the lockdown closes" : ""}, and records what it would have refused.`, () => ask("mode", {site, mode: "observe", for: value}));
	});
	on("enforce", () => { const site = picked; sure(`End the switch of ${site} now?`, () => ask("mode", {site, mode: "", for: "0s"})); });
	on("lock", () => {
		const [value, text] = time(), site = picked, hard = $("hard").checked;
		sure(`Close the REST interface of ${site} to visitors for ${text}? What its rules "allow anyone" and "allow signed" name stays open${hard ? ", but for the shop's checkout, which closes" : ", and the shop's checkout"}.`,
			() => ask("lockdown", {site, for: value, hard}));
	});
	on("unlock", () => { const site = picked; sure(`End the lockdown of ${site} now?`, () => ask("lockdown", {site, for: "0s"})); });
	on("lock-all", () => {
		const [value, text] = time("for-all"), hard = $("hard-all").checked;
		sure(`Close the REST interface of all ${sites.size} sites to visitors for ${text}? What their rules "allow anyone" and "allow signed" name stays open${hard ? ", but for the checkouts, which close" : ", and the checkouts"}.`,
			() => ask("lockdown", {for: value, hard}));
	});
	on("unlock-all", () => sure("End the lockdown of all sites now? Sites with a lockdown of their own stay closed until that ends.", () => ask("lockdown", {for: "0s"})));
	on("no", () => $("sure").close());
	on("close", () => pick(""));
	$("copy").hidden = !navigator.clipboard; // no browser has it on a page over http from another machine
	on("copy", () => navigator.clipboard.writeText($("link").href).then(() => say("Copied.", "good"), error => say(error.message, "bad")));
	for (const id of ["find-site", "which"]) $(id).addEventListener("input", redraw);
	$("order").addEventListener("input", () => { arrange(); redraw(); });
}
