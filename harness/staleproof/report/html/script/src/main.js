import { chart } from "./chart.js";
import { read } from "./data.js";
import { whole } from "./defaults.js";
import { el, told } from "./dom.js";
import { section } from "./finding.js";
import { overview } from "./overview.js";
import { visible } from "./text.js";

async function show() {
  const page = await read("data");
  const timelines = new Map(Object.entries(page.timelines).map(([name, each]) => [name, whole(each)]));
  document.title = visible(page.title);
  const sections = page.findings.map((finding, n) => section(finding, n, timelines.get(finding.timeline)));
  const open = (n) => (sections[n].open = true);
  document.body.replaceChildren(overview(page, open), footer(page));
  document.getElementById("findings").append(...sections);
  if (!sections.length) for (const each of timelines.values()) alone(each);
  const named = Number(location.hash.match(/^#finding-(\d+)$/)?.[1] ?? 1) - 1;
  if (sections[named]) open(named);
  window.addEventListener("beforeprint", () => sections.forEach((each) => (each.open = true)));
}

const footer = ({ licences }) => el("footer", {}, el("details", {}, el("summary", {}, "Libraries in this page, and their licences"), el("pre", {}, told(licences, 1e5))));

/** The timeline of a trial without a finding. */
function alone(timeline) {
  const picture = chart(timeline);
  document.getElementById("findings").append(el("h2", {}, "Timeline"), picture.element);
  picture.begin();
}

show().catch((error) => document.body.append(el("p", { role: "alert" }, `This report cannot be shown: ${error}`)));
