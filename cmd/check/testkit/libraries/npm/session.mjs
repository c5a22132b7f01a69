// What the sessions share. Standard input is one JSON object: what the test gives, addresses and
// credentials. Each step prints a line {"step", "result"} or {"step", "error"}.
import { readFileSync } from "node:fs";

export const given = JSON.parse(readFileSync(0, "utf8"));

// describe is an error as each library hands it on: axios has the answer, api-fetch an answer that
// it was not to parse, and the others the platform's own object.
function describe(error) {
  const { status, code, message } = error?.response?.data ?? error ?? {};
  return { status: error?.response?.status ?? status ?? error?.data?.status, code, message: message ?? String(error) };
}

export async function step(name, run) {
  const line = { step: name };
  try {
    line.result = await run();
  } catch (error) {
    line.error = describe(error);
  }
  console.log(JSON.stringify(line));
  return line.result;
}
