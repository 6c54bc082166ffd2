// Makes ../report.js of src, and ../licences.txt of the libraries that are in it. Called by ci/page; needs what package-lock.json names.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const into = process.argv[2] ?? dirname(here);
const { metafile } = await build({
  absWorkingDir: here,
  entryPoints: ["src/main.js"],
  bundle: true,
  charset: "ascii",
  format: "iife",
  legalComments: "none",
  metafile: true,
  minify: true,
  outfile: join(into, "report.js"),
  target: ["chrome110", "firefox115", "safari16.4"],
});
const names = new Set(Object.keys(metafile.inputs).map((path) => path.match(/node_modules\/([^/]+)/)?.[1]).filter(Boolean));
const licence = (name) => {
  const folder = join(here, "node_modules", name);
  const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return `${name} ${version} (${license})\n\n${readFileSync(join(folder, "LICENSE"), "utf8").trim()}\n`;
};
const rule = `\n${"-".repeat(78)}\n\n`;
writeFileSync(join(into, "licences.txt"), [...names].sort().map(licence).join(rule));
