// What is known about a translation: stages, verdict, outputs side by side, messages, evidence.

const $ = (id) => document.getElementById(id);

/** An element with text or children; never HTML from elsewhere. */
export function make(name, content = [], properties = {}) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...(Array.isArray(content) ? content : [content]));
  return element;
}

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

export function reset(check) {
  for (const name of ["translate", "compile", "execute", "match"]) stage(name, "");
  stage("translate", "running");
  const goal = { none: "", compile: " and compiling", execute: ", compiling and running" }[check];
  label(`Translating${goal} …`, "");
  $("message-count").textContent = "";
  empty("output", check === "execute" ? "Not run yet." : "Only what is run prints something.");
  empty("messages", "Nothing to report.");
  empty("evidence", "Nothing yet.");
}

function empty(panel, text) {
  $(`panel-${panel}`).replaceChildren(make("p", text, { className: "empty" }));
}

export function checkStage(data) {
  const report = data.compile ?? data.execution;
  if (!report) {
    stage(data.name, "running");
    label(data.name === "compile" ? "Compiling …" : "Running in the sandbox …", "");
  } else if (data.compile) stage("compile", report.passed ? "good" : "bad");
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
  const good = ["compiled", "executed", "matched"].includes(verdict.verification);
  const kind = verdict.verification === "failed" ? "bad" : good ? "good" : "";
  const by = answer.attempts.length > 1 ? ` — answered by ${answer.engine}` : "";
  const seconds = answer.timings.total;
  label(`${sentence(verdict.label)}${by} (${duration(seconds)}${answer.cached ? ", kept" : ""})`, kind);
  outputs(verdict.execution);
  messages(answer, goTo);
  evidence(answer);
  if (verdict.compile && !verdict.compile.passed) select("messages");
  else if (verdict.execution?.runs.length) select("output");
}

const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1);
const duration = (seconds) =>
  seconds < 1 ? `${Math.max(1, Math.round(seconds * 1000))} ms` : `${seconds.toFixed(1)} s`;

function outputs(execution) {
  if (!execution) return;
  if (!execution.runs.length) return empty("output", sentence(execution.problem || "It did not run."));
  $("panel-output").replaceChildren(...execution.runs.map(oneRun));
}

function oneRun(run) {
  const how = run.matched === null ? run.verdict : run.exact ? "the same bytes" : run.matched ? "the same numbers" : "different";
  const title = `${run.arguments.join(" ") || "no arguments"} — ${how}, ${duration(run.seconds)}`;
  const ours = make("div", [make("h4", "Translation"), make("pre", run.stdout || "(nothing)", { tabIndex: 0 })]);
  const sides = [ours];
  if (run.expected !== null) {
    sides.push(make("div", [make("h4", "Original"), make("pre", run.expected || "(nothing)", { tabIndex: 0 })]));
  }
  const parts = [make("h3", title), make("div", sides, { className: sides.length > 1 ? "sides" : "" })];
  const wrong = run.difference || (run.verdict === "ok" ? "" : run.stderr);
  if (wrong) parts.push(make("p", wrong));
  return make("div", parts, { className: "run" });
}

function messages(answer, goTo) {
  const found = [
    ...answer.findings.map((each) => ({ ...each, side: "source", text: `${each.message}${each.advice ? ` — ${each.advice}` : ""}` })),
    ...(answer.verdict.compile?.diagnostics ?? []).map((each) => ({ ...each, side: "translation", text: each.message })),
  ];
  const more = [];
  const compiled = answer.verdict.compile;
  if (compiled && !compiled.passed && compiled.output) more.push(make("pre", compiled.output, { tabIndex: 0 }));
  for (const fix of compiled?.repairs ?? []) more.push(make("p", `Repaired: ${fix}`));
  $("message-count").textContent = found.length ? `(${found.length})` : "";
  if (!found.length && !more.length) return empty("messages", "Nothing to report.");
  const list = make("ul", found.map((each) => oneMessage(each, goTo)), { className: "messages" });
  list.style.padding = 0;
  list.style.margin = 0;
  $("panel-messages").replaceChildren(list, ...more);
}

function oneMessage(each, goTo) {
  const where = each.line ? `line ${each.line}` : "file";
  const button = make(
    "button",
    [
      make("span", each.severity, { className: each.severity }),
      make("span", `${each.side === "source" ? "left" : "right"}, ${where}`, { className: "where" }),
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
  if (execution) {
    rows.push(["Ran on", execution.backend]);
    rows.push(["Compared with", execution.reference || "nothing: there is no output of the original"]);
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

const TABS = ["output", "messages", "evidence", "files"];

export function select(name, focus = false) {
  for (const each of TABS) {
    const tab = $(`tab-${each}`);
    tab.setAttribute("aria-selected", String(each === name));
    tab.tabIndex = each === name ? 0 : -1;
    $(`panel-${each}`).hidden = each !== name;
  }
  if (focus) $(`tab-${name}`).focus();
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
