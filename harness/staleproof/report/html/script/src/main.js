import { read } from "./data.js";
import { whole } from "./defaults.js";
import { el, told } from "./dom.js";
import { download } from "./download.js";
import { drawn, question, section } from "./finding.js";
import { overrun } from "./overrun.js";
import { overview } from "./overview.js";
import { visible } from "./text.js";
import { trials } from "./trials.js";

async function show() {
  const page = await read("data");
  const timelines = new Map(Object.entries(page.timelines).map(([name, each]) => [name, whole(each)]));
  document.title = visible(page.title);
  const every = trials(page);
  const sections = page.findings.map((finding, n) => section(finding, n, timelines));
  const questions = page.questions.map((asked, n) => question(asked, n, timelines));
  const open = (n) => (sections[n].open = true);
  const parts = [
    ...overview(page, open, every.only),
    sections.length ? el("section", { id: "findings" }, el("h2", {}, "Findings in full"), sections) : null,
    questions.length ? el("section", { id: "questions" }, el("h2", {}, "What stayed inconclusive"), questions) : null,
    page.trial && !sections.length && !questions.length ? alone(page, timelines) : null,
    overrun(page), every.element,
  ];
  document.body.replaceChildren(el("main", {}, parts.filter(Boolean)), footer(page));
  for (const { begin } of waiting.splice(0)) begin();
  const named = document.getElementById(location.hash.slice(1)) ?? sections[0] ?? questions[0];
  if (named?.matches("details")) named.open = true;
  if (location.hash) named?.scrollIntoView();
  window.addEventListener("hashchange", () => {
    const asked = document.getElementById(location.hash.slice(1));
    if (asked?.matches("details")) asked.open = true;
  });
  window.addEventListener("beforeprint", () => document.querySelectorAll(".finding").forEach((each) => (each.open = true)));
}

const waiting = [];
const footer = ({ licences }) => el("footer", {}, el("details", {}, el("summary", {}, "Libraries in this page, and their licences"), el("pre", {}, told(licences, 1e5))));

/** A trial in which nothing was found. */
function alone({ trial, trials: [{ name }] }, timelines) {
  const picture = drawn(trial, timelines);
  waiting.push(picture);
  return el("section", { "data-trial": name }, picture.parts, trial.attachment ? download(trial.attachment, name) : null);
}

show().catch((error) => document.body.append(el("p", { role: "alert" }, `This report cannot be shown: ${error}`)));
