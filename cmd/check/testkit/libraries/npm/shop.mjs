// @woocommerce/woocommerce-rest-api with the key and secret given. What a step returns is the answer.
import { default as library } from "@woocommerce/woocommerce-rest-api";
import { given, step } from "./session.mjs";

const shop = new library.default({
  url: given.url,
  consumerKey: given.key,
  consumerSecret: given.secret,
  version: "wc/v3",
  queryStringAuth: given.inQuery,
});
const answered = ({ status, headers, data }) => ({ status, total: headers["x-wp-total"], pages: headers["x-wp-totalpages"], data });
const by = (method) => (name, ...call) => step(name, async () => answered(await shop[method](...call)));

export const get = by("get");
export const post = by("post");
export const put = by("put");
export const del = by("delete");
export const options = by("options");
