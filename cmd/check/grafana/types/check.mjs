// Reads dashboards from standard input, a JSON object by name, and writes what Grafana's types
// find wrong with each, as an object of lists.
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

const schema = join(process.cwd(), "node_modules/@grafana/schema/dist/esm");

// An enum takes no string of that value, and a dashboard has nothing else: unions take their
// place. The defaults beside the types are dropped, since they name members of enums.
const jsonTypes = (text) =>
  text
    .replace(/export declare enum (\w+) \{(.*?)\n\}/gs, (_, name, body) =>
      `export type ${name} = ${[...body.matchAll(/=\s*("[^"]*"|-?\d+)/g)].map((m) => m[1]).join(" | ")};`)
    .replace(/export declare const \w+: [^;]*;/g, "");

const files = new Map();
const collect = (dir) => {
  for (const name of readdirSync(dir)) {
    const path = join(dir, name);
    if (statSync(path).isDirectory()) collect(path);
    else if (name.endsWith(".d.ts")) files.set(path, jsonTypes(readFileSync(path, "utf8")));
  }
};
collect(schema);

// The types of each kind of panel: its options, and what is particular to its fields.
const kinds = { timeseries: "TimeSeries", stat: "Stat", table: "Table", heatmap: "Heatmap" };
const withFields = ["timeseries", "table", "heatmap"];

// These members belong to the plugin of the data source, which the types do not know.
const without = (value, ...names) => Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));

function source(dashboard) {
  const lines = ['import type * as D from "./raw/dashboard/x/dashboard_types.gen";'];
  for (const [kind, name] of Object.entries(kinds)) {
    lines.push(`import type * as ${name} from "./raw/composable/${kind}/panelcfg/x/${name}PanelCfg_types.gen";`);
  }
  const declare = (type, value) => lines.push(`export const v${lines.length}: ${type} = ${JSON.stringify(value)};`);
  const { panels = [], templating = {}, annotations = {}, ...rest } = dashboard;
  declare("D.Dashboard", rest);
  for (const v of templating.list ?? []) declare("D.VariableModel", without(v, "definition"));
  for (const a of annotations.list ?? []) {
    declare("D.AnnotationQuery", without(a, "expr", "step", "tagKeys", "textFormat", "titleFormat"));
  }
  for (const p of panels) {
    if (p.type === "row") {
      declare("D.RowPanel", p);
      continue;
    }
    declare("D.Panel", p);
    declare(`${kinds[p.type]}.Options`, p.options);
    if (withFields.includes(p.type)) declare(`${kinds[p.type]}.FieldConfig`, p.fieldConfig?.defaults?.custom);
  }
  return lines.join("\n");
}

const parsed = new Map(); // what all dashboards share

function wrongWith(dashboard) {
  const main = join(schema, "dashboard.ts");
  files.set(main, source(dashboard));
  const options = {
    noEmit: true, strict: true, skipLibCheck: true, target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler, types: [], paths: { "@grafana/schema": [join(schema, "common/common.gen.d.ts")] },
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists, readFile } = host;
  host.getSourceFile = (path, ...rest) => {
    if (path === main) return ts.createSourceFile(path, files.get(path), ...rest);
    if (!parsed.has(path)) {
      parsed.set(path, files.has(path) ? ts.createSourceFile(path, files.get(path), ...rest) : getSourceFile(path, ...rest));
    }
    return parsed.get(path);
  };
  host.fileExists = (path) => files.has(path) || fileExists(path);
  host.readFile = (path) => files.get(path) ?? readFile(path);
  return ts.getPreEmitDiagnostics(ts.createProgram([main], options, host))
    .map((d) => ts.flattenDiagnosticMessageText(d.messageText, " "));
}

const dashboards = JSON.parse(readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(Object.fromEntries(Object.entries(dashboards).map(([name, d]) => [name, wrongWith(d)]))));
