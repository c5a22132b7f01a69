// wpapi finds the routes of a site by itself, without a login, and calls one.
import WPAPI from "wpapi";
import { given, step } from "./session.mjs";

const site = await step("discover", async () => {
  const found = await WPAPI.discover(given.url);
  return Object.assign(found, { toJSON: () => found.root().toString() });
});
await step("posts", () => site.posts().perPage(1));
await step("a route of a plugin", () => site.namespace("wc/v3").orders());
