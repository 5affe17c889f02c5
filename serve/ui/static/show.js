// What is known about a translation: stages, verdict, outputs side by side, messages, evidence.

import { keepPace, pace } from "./kept.js";
import { make } from "./make.js";
import { duration, sentence } from "./text.js";

const $ = (id) => document.getElementById(id);

export function label(text, kind) {
  $("label").textContent = text;
  $("label").className = kind;
}

const WORDS = { running: "under way", good: "passed", bad: "failed", "": "" };

export function stage(name, kind) {
  const item = document.querySelector(`#stages [data-stage="${name}"]`);
  item.className = kind;
  if (kind) item.setAttribute("aria-label", `${item.textContent}: ${WORDS[kind]}`);
  else item.removeAttribute("aria-label");
}

const STAGES = ["translate", "compile", "execute", "match", "portable"];

/** Nothing is known (any more); `why` is said in place of a verdict. */
export function cleared(why) {
  for (const name of STAGES) stage(name, "");
  $("elapsed").textContent = "";
  label(why, "");
  $("message-count").textContent = "";
  empty("output", "Not run yet.");
  empty("messages", "Nothing to report.");
  empty("evidence", "Nothing yet.");
}

export function reset({ check, targets }) {
  const goal = { none: "", compile: " and compiling", execute: ", compiling and running" }[check];
  cleared(`Translating${goal} …`);
  stage("translate", "running");
  document.querySelector('#stages [data-stage="portable"]').hidden = !targets.length;
  if (check !== "execute") empty("output", "Only what is run prints something.");
}

let started = 0;
let clock = 0;
let underWay = null; // {name, since}: the stage of the check that runs

/** Count the seconds of a request that is under way; not read aloud. */
export function timing(busy) {
  clearInterval(clock);
  underWay = null;
  if (!busy) return;
  started = performance.now();
  const tick = () => {
    $("elapsed").textContent = `${Math.round((performance.now() - started) / 1000)} s${expected()}`;
  };
  tick();
  clock = setInterval(tick, 500);
}

function expected() {
  const seconds = underWay ? Math.max(1, Math.round(pace(underWay.name))) : 0;
  return seconds ? `; this stage takes about ${seconds} s` : "";
}

/** A stage begins or ends: how long it took is what the next one of its kind is expected to take. */
function paced(name, ended) {
  if (ended && underWay?.name === name) keepPace(name, (performance.now() - underWay.since) / 1000);
  underWay = ended ? null : { name, since: performance.now() };
}

function empty(panel, text) {
  $(`panel-${panel}`).replaceChildren(make("p", text, { className: "empty" }));
}

export function checkStage(data) {
  const report = data.compile ?? data.execution;
  const where = data.target ? ` for ${data.target}` : "";
  paced(data.name, Boolean(report));
  if (!report) {
    stage(data.target ? "portable" : data.name, "running");
    label(data.name === "compile" ? `Compiling${where} …` : `Running in the sandbox${where} …`, "");
  } else if (data.target) stage("portable", "");
  else if (data.compile) stage("compile", report.passed ? "good" : "bad");
  else if (report.runs.length) {
    stage("execute", report.ran ? "good" : "bad");
    if (report.matched !== null) stage("match", report.matched ? "good" : "bad");
  } else stage("execute", "");
}

export function stopped() {
  settle();
  label("Stopped.", "");
}

export function problem(error) {
  settle();
  const wait = error.retryAfter ? ` (in ${error.retryAfter} s)` : "";
  label(`${error.message}${wait}`, "bad");
  const details = [...(error.details ?? []), error.id ? `request ${error.id}` : ""].filter(Boolean);
  if (details.length) {
    $("panel-messages").replaceChildren(make("pre", details.join("\n")));
    select("messages");
  }
}

function settle() {
  for (const item of document.querySelectorAll("#stages .running")) stage(item.dataset.stage, "");
}

export function result(answer, goTo) {
  settle();
  const { verdict } = answer;
  stage("translate", "good");
  for (const name of ["compile", "execution"]) {
    // A kept answer comes without its stages.
    if (verdict[name]) checkStage({ name, [name]: verdict[name] });
  }
  if (verdict.portable !== null) stage("portable", verdict.portable ? "good" : "bad");
  const good = ["compiled", "executed", "matched"].includes(verdict.verification);
  const kind = verdict.verification === "failed" ? "bad" : good ? "good" : "";
  const asked = answer.attempts[0]?.engine ?? answer.engine;
  const instead = asked === answer.engine ? "" : `, ${asked} had failed (see Messages)`;
  const by = answer.attempts.length > 1 ? ` — answered by ${answer.engine}${instead}` : "";
  const seconds = answer.timings.total;
  label(`${sentence(verdict.label)}${by} (${duration(seconds)}${answer.cached ? ", kept" : ""})`, kind);
  $("elapsed").textContent = "";
  outputs(verdict);
  messages(answer, goTo);
  evidence(answer);
  if (verdict.compile && !verdict.compile.passed) select("messages");
  else if (verdict.execution?.runs.length) select("output");
}

const CALLED = {
  gpu: "Original, on this machine's Nvidia GPU",
  stored: "Original, on an Nvidia GPU (stored)",
  given: "Your expected output",
  translation: "Rules' translation, run here (no original to be had)",
};

/** What the outputs stand beside. */
function compared({ reference_kind: kind, reference }) {
  if (kind.startsWith("lifted")) return `Original's machine code (${kind.slice(7)}), lifted and run on the CPU`;
  return CALLED[kind] ?? reference;
}

function outputs(verdict) {
  const targets = verdict.targets.length ? verdict.targets : [verdict];
  const parts = targets.flatMap((each) => {
    const title = each.architecture ? [make("h2", `${each.architecture}, wavefronts of ${each.wavefront} lanes`)] : [];
    return each.execution ? [...title, ...runsOf(each.execution)] : [];
  });
  if (parts.length) $("panel-output").replaceChildren(...parts);
}

function runsOf(execution) {
  if (!execution.runs.length) {
    return [make("p", sentence(execution.problem || "It did not run."), { className: "empty" })];
  }
  return execution.runs.map((run) => oneRun(run, execution));
}

function oneRun(run, execution) {
  const how = run.matched === null ? run.verdict : run.exact ? "the same bytes" : run.matched ? "the same numbers" : "different";
  const title = `${run.arguments.join(" ") || "no arguments"} — ${how}, ${duration(run.seconds)}`;
  const ours = make("div", [make("h4", `Translation, on ${execution.backend.split(":")[0]}`), make("pre", run.stdout || "(nothing)", { tabIndex: 0 })]);
  const sides = [ours];
  if (run.expected !== null) {
    sides.push(make("div", [make("h4", compared(execution)), make("pre", run.expected || "(nothing)", { tabIndex: 0 })]));
  }
  const parts = [make("h3", title), make("div", sides, { className: sides.length > 1 ? "sides" : "" })];
  if (run.difference) parts.push(make("p", run.difference));
  if (run.stderr) parts.push(make("h4", "Standard error"), make("pre", run.stderr, { tabIndex: 0 }));
  return make("div", parts, { className: "run" });
}

const NOT_VERIFIED = "best attempt, not verified: ";

/** Why the engine that was asked did not give the answer. */
function failures({ attempts, engine }) {
  const failed = attempts.filter((each) => each.engine !== engine && each.problem);
  return failed.map((each) => make("p", `${each.engine} failed: ${each.problem.replace(NOT_VERIFIED, "")}`));
}

/** What the compiler says; of a line that the original has as well, the fault may be the original's. */
function saidByCompiler({ verdict, translation, source }) {
  const originals = new Set(source.split("\n").map((line) => line.trim()).filter(Boolean));
  const made = translation.split("\n");
  return (verdict.compile?.diagnostics ?? []).map((each) => {
    const same = each.severity === "error" && originals.has((made[each.line - 1] ?? "").trim());
    return { ...each, side: "translation", text: each.message + (same ? " — the original has the same line: check that it compiles" : "") };
  });
}

function messages(answer, goTo) {
  const found = [
    ...answer.findings.map((each) => ({ ...each, side: "source", text: `${each.message}${each.advice ? ` — ${each.advice}` : ""}` })),
    ...saidByCompiler(answer),
  ];
  const more = failures(answer);
  const compiled = answer.verdict.compile;
  if (compiled && !compiled.passed && compiled.output) more.push(make("pre", compiled.output, { tabIndex: 0 }));
  for (const fix of compiled?.repairs ?? []) more.push(make("p", `Repaired: ${fix}`));
  $("message-count").textContent = found.length ? `(${found.length})` : "";
  if (!found.length && !more.length) return empty("messages", "Nothing to report.");
  const groups = new Map();
  for (const each of found) {
    const kind = each.side === "source" ? `${each.code} ${each.title}` : " What the compiler says";
    groups.set(kind, [...(groups.get(kind) ?? []), each]);
  }
  $("panel-messages").replaceChildren(...[...groups].map(([kind, of]) => group(kind, of, goTo)), ...more);
}

/** Findings of one kind, under its documented number. */
function group(kind, found, goTo) {
  const [code, title] = [kind.slice(0, kind.indexOf(" ")), kind.slice(kind.indexOf(" ") + 1)];
  const heading = make("h3", [...(code ? [make("code", code)] : []), `${title || "Other"} (${found.length})`]);
  const list = make("ul", found.map((each) => oneMessage(each, goTo)), { className: "messages" });
  return make("div", [heading, list], { className: "group" });
}

function oneMessage(each, goTo) {
  const where = each.line ? `line ${each.line}` : "file";
  const button = make(
    "button",
    [
      make("span", each.severity, { className: each.severity }),
      make("span", `${$(`${each.side === "source" ? "left" : "right"}-title`).textContent}, ${where}`, { className: "where" }),
      make("span", each.text),
    ],
    { type: "button" },
  );
  button.addEventListener("click", () => goTo[each.side](each.line));
  return make("li", button);
}

function evidence(answer) {
  const { compile, execution } = answer.verdict;
  const rows = [
    ["Engine", `${answer.engine} ${answer.engine_version}`],
    ["Constructs", `${answer.counts.converted} converted, ${answer.counts.unchanged} unchanged, ${answer.counts.unsupported} unsupported`],
  ];
  if (answer.attempts.length > 1) {
    rows.push(["Attempts", answer.attempts.map((each) => `${each.engine}: ${each.problem || each.verification}`).join("\n")]);
  }
  if (compile) rows.push(["Compiler", `clang ${compile.compiler}, ${compile.architecture}, ${duration(compile.seconds)}`]);
  for (const each of answer.verdict.targets) {
    rows.push([each.architecture, `wavefronts of ${each.wavefront} lanes: ${each.label}`]);
  }
  if (execution) {
    if (execution.grade) rows.push(["Grade", execution.grade + (execution.weakness ? `\n${execution.weakness}` : "")]);
    rows.push(["Ran on", execution.backend]);
    const kind = execution.reference ? `${compared(execution)}\n` : "";
    rows.push(["Compared with", kind + (execution.reference || "nothing: there is no output of the original")]);
    if (execution.passed_over.length) rows.push(["Not compared with", execution.passed_over.join("\n")]);
    if (execution.problem) rows.push(["Not run because", execution.problem]);
    if (execution.tolerance) rows.push(["Tolerance", execution.tolerance]);
    if (execution.driver) rows.push(["Driver", "the file has no main: its kernels were launched by a generated one"]);
    for (const text of execution.findings) rows.push(["Finding", text]);
    for (const text of execution.device_faults) rows.push(["Device fault", text]);
    const launches = [...new Set(execution.runs.flatMap((run) => run.launches))];
    if (launches.length) rows.push(["Launches", launches.join("\n")]);
  }
  rows.push(["Time", Object.entries(answer.timings).map(([name, value]) => `${name} ${duration(value)}`).join(", ")]);
  rows.push(["Request", answer.id]);
  const table = make("table", rows.map(([name, value]) => {
    const cell = make("td", value);
    cell.style.whiteSpace = "pre-wrap";
    return make("tr", [make("th", name, { scope: "row" }), cell]);
  }));
  $("panel-evidence").replaceChildren(table);
}

const TABS = ["output", "messages", "assembly", "evidence", "files"];

export function select(name, focus = false) {
  for (const each of TABS) {
    const tab = $(`tab-${each}`);
    tab.setAttribute("aria-selected", String(each === name));
    tab.tabIndex = each === name ? 0 : -1;
    $(`panel-${each}`).hidden = each !== name;
  }
  if (focus) $(`tab-${name}`).focus();
  $(`panel-${name}`).dispatchEvent(new CustomEvent("shown"));
}

export function wireTabs() {
  TABS.forEach((name, index) => {
    $(`tab-${name}`).addEventListener("click", () => select(name));
    $(`tab-${name}`).addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step) select(TABS[(index + step + TABS.length) % TABS.length], true);
    });
  });
}
