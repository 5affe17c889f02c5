// The page: sends a program, shows the stages of its answer as they come.

import { Editor } from "./editor.js";
import { api, ApiProblem, events, hasKey, rememberKey } from "./api.js";
import { dropped, isArchive, translateFolder } from "./folder.js";
import { inputs, noInputs, openBoxes } from "./inputs.js";
import * as kept from "./kept.js";
import { Listings } from "./listings.js";
import { make, save } from "./make.js";
import * as show from "./show.js";
import { quoted } from "./text.js";

const $ = (id) => document.getElementById(id);

const TASKS = {
  "source:cuda-to-hip": { from: "CUDA", to: "HIP", left: "cpp", right: "cpp", file: "hip" },
  "assembly:cuda-to-hip": { from: "CUDA", to: "RDNA3", left: "cpp", right: "rdna3", file: "s" },
  "source:hip-to-cuda": { from: "HIP", to: "CUDA", left: "cpp", right: "cpp", file: "cu" },
};

// `original` is the program that the translation on the right is of.
const state = { capabilities: null, examples: [], running: null, name: "program", answered: null, original: null, asked: null };
const FIELDS = ["task", "engine", "arch", "check", "arguments", "stdin", "expected"];

const run = { key: "Mod-Enter", run: () => (translate(), true) };
const source = new Editor($("source"), {
  label: "Program to translate",
  hint: "Paste a program here, or drop a file.",
  onChange: () => changed(),
  keys: [run],
});
const translation = new Editor($("translation"), {
  label: "Translation",
  readOnly: true,
  hint: "The translation appears here.",
});

const listings = new Listings((line, translated) => {
  reveal(source, line);
  if (translated) reveal(translation, translated);
});

/** Show a line without taking the focus, as `goTo` does. */
function reveal(editor, line) {
  const { doc } = editor.view.state;
  if (line < 1 || line > doc.lines) return;
  editor.view.dispatch({ selection: { anchor: doc.line(line).from }, scrollIntoView: true });
}

/** The program or what is asked about it is another one: what was said of it no longer holds. */
function changed() {
  source.setDiagnostics([]);
  keepDraft();
  if (state.running || !state.answered) return;
  state.answered = null;
  $("share").hidden = true;
  translation.setDiagnostics([]);
  show.cleared("Changed since it was translated.");
  listings.clear("Translate the program again to see what it becomes.");
}

let waiting = 0;

function keepDraft() {
  keepNothing();
  waiting = setTimeout(() => {
    waiting = 0;
    kept.keepDraft(draft());
  }, 300);
}

function keepNothing() {
  clearTimeout(waiting);
  waiting = 0;
}

function draft() {
  const fields = Object.fromEntries(FIELDS.map((id) => [id, $(id).value]));
  return { name: state.name, source: source.text, ...fields };
}

/** Put a kept program back, with its settings as far as this server has them. */
function restore(found) {
  for (const id of FIELDS) {
    if (typeof found?.[id] !== "string") continue;
    const before = $(id).value;
    $(id).value = found[id];
    const chosen = $(id).selectedOptions?.[0];
    if ($(id).tagName === "SELECT" && (!chosen || chosen.disabled)) $(id).value = before;
    if (id === "task") taskChanged();
    if (id === "arch") archChanged();
  }
  $("input-files").value = ""; // a browser keeps names of files, and no more
  openBoxes();
  openText(String(found.name ?? "program"), String(found.source ?? ""));
}

function task() {
  const [level, direction] = $("task").value.split(":");
  return { level, direction, ...TASKS[$("task").value] };
}

function options(select, values, chosen) {
  select.replaceChildren(
    ...values.map(([value, text, problem = ""]) => {
      const option = new Option(text, value);
      option.selected = value === chosen && !problem;
      option.disabled = Boolean(problem);
      option.title = problem;
      return option;
    }),
  );
}

// Value, text and problem of an architecture: what this server does with it, or what it lacks.
function described(name, target) {
  const card = state.capabilities.cards[name]?.[0]?.toUpperCase();
  if (!target) return [name, card ? `${name} (${card})` : name];
  const use = target.problem ? "not here" : target.executed ? "runs here" : "compiled only";
  return [name, `${name} (${card ?? target.family}, ${use})`, target.problem];
}

function taskChanged() {
  const { level, direction, from, to, left, right } = task();
  $("left-title").textContent = from;
  $("right-title").textContent = to;
  source.setLanguage(left);
  translation.setLanguage(right);
  const known = state.capabilities;
  if (!known) return;
  const engines = known.engines.filter(
    (each) => each.levels.includes(level) && each.directions.includes(direction),
  );
  options($("engine"), engines.map((each) => [each.name, each.name]), $("engine").value);
  const prefix = direction === "cuda-to-hip" ? "gfx" : "sm_";
  const archs = known.architectures.filter((each) => each.startsWith(prefix));
  const targets = new Map(known.targets.map((each) => [each.name, each]));
  options($("arch"), archs.map((each) => described(each, targets.get(each))), $("arch").value);
  $("diff").disabled = level !== "source";
  archChanged();
}

/** The executed target whose wavefront is not as wide as that of the chosen one. */
function otherWidth() {
  const targets = state.capabilities?.targets ?? [];
  const chosen = targets.find((each) => each.name === $("arch").value);
  if (!chosen?.executed || task().to !== "HIP") return null;
  return targets.find((each) => each.executed && !each.problem && each.wavefront !== chosen.wavefront);
}

function archChanged() {
  const both = $("check").querySelector('[value="both"]');
  const other = otherWidth();
  both.disabled = !other;
  both.textContent = other ? `run it on both wave widths (+ ${other.name})` : "run it on both wave widths (not here)";
  if (both.disabled && both.selected) $("check").value = "execute";
}

function listTargets() {
  const rows = state.capabilities.targets.map((each) =>
    make("tr", [
      make("th", each.name, { scope: "row" }),
      make("td", each.family),
      make("td", (state.capabilities.cards[each.name] ?? []).join(", ")),
      make("td", `${each.wavefront} lanes`),
      make("td", each.problem || (each.executed ? "compiled and executed here" : "compiled here; not executed")),
    ]),
  );
  $("targets-list").replaceChildren(make("table", rows));
  $("targets-dialog").showModal();
}

async function translate() {
  if (state.running || !source.text.trim()) {
    if (!source.text.trim()) show.label("There is no program to translate.", "bad");
    return;
  }
  const { level, direction } = task();
  const request = {
    source: source.text,
    level,
    direction,
    engine: $("engine").value,
    arch: $("arch").value,
    check: checked(),
    targets: $("check").value === "both" ? [otherWidth().name] : [],
    stream: true,
  };
  state.running = new AbortController();
  state.answered = null;
  state.original = request.source;
  state.asked = request;
  $("share").hidden = true;
  const asked = draft();
  working(true);
  show.reset(request);
  listings.clear("The compiler runs when you open this, once the translation is there.");
  translation.setOriginal(null);
  translation.text = "";
  source.setDiagnostics([]);
  try {
    request.inputs = await inputs();
    for await (const event of events("/v1/translate", request, state.running.signal)) {
      happened(event, asked);
    }
  } catch (error) {
    if (error.name === "AbortError") show.stopped();
    else show.problem(error);
  } finally {
    state.running = null;
    working(false);
  }
  if (JSON.stringify(asked) !== JSON.stringify(draft())) changed();
}

/** How far the server is to check. */
const checked = () => ($("check").value === "both" ? "execute" : $("check").value);

function working(busy) {
  $("go").disabled = busy;
  $("input-files").disabled = busy;
  $("stop").hidden = !busy;
  $("outcome").setAttribute("aria-busy", String(busy));
  show.timing(busy);
}

function happened({ type, data }, asked) {
  if (type === "token") translation.append(data.text);
  else if (type === "translation") {
    translation.text = data.source;
    source.setDiagnostics(data.findings);
    show.stage("translate", "good");
  } else if (type === "stage") show.checkStage(data);
  else if (type === "error") throw new ApiProblem(data);
  else if (type === "result") {
    state.answered = data;
    $("share").hidden = !state.capabilities.shares || data.verdict.verification === "failed";
    if (translation.text !== data.translation) translation.text = data.translation;
    showChanges();
    source.setDiagnostics(data.findings);
    translation.setDiagnostics(data.verdict.compile?.diagnostics ?? []);
    show.result({ ...data, source: state.original }, {
      source: (line) => source.goTo(line),
      translation: (line) => translation.goTo(line),
    });
    if (!$("panel-assembly").hidden) showListings();
    const kind = data.verdict.verification === "failed" ? "error" : "";
    kept.remember({ when: Date.now(), name: state.name, label: data.verdict.label, kind, draft: asked });
  }
}

/** A link to what was asked and answered, into the clipboard. */
async function share() {
  try {
    const { id } = await api("/v1/shares", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(state.asked),
    });
    const link = `${location.origin}/#share=${id}`;
    await navigator.clipboard?.writeText(link).catch(() => {});
    show.label(`Link to this answer: ${link}`, "");
  } catch (error) {
    show.problem(error);
  }
}

/** What a link shows: the program, its settings and the answer that this server gave. */
async function openShare(id) {
  const { request, answer } = await api(`/v1/shares/${id}`);
  const [given] = request.inputs;
  noInputs();
  $("task").value = `${request.level}:${request.direction}`;
  taskChanged();
  for (const [field, value] of [["engine", request.engine], ["arch", request.arch], ["check", request.check]]) $(field).value = value;
  archChanged();
  $("arguments").value = (given?.arguments ?? []).map(quoted).join(" ");
  $("stdin").value = given?.stdin ?? "";
  $("expected").value = given?.expected_stdout ?? "";
  openBoxes();
  openText("shared", request.source);
  state.original = request.source;
  state.asked = request;
  show.reset(request);
  happened({ type: "result", data: answer }, draft());
}

function showChanges() {
  const asked = $("diff").checked && !$("diff").disabled && translation.text;
  translation.setOriginal(asked ? state.original : null);
}

function showListings() {
  const { level, direction } = task();
  if (!state.answered) return;
  if (level !== "source" || direction !== "cuda-to-hip") {
    listings.clear("Shown of translations from CUDA to HIP.");
    return;
  }
  listings.show({ source: state.original, translation: translation.text, arch: state.answered.architecture });
}

function listHistory() {
  const items = kept.history().map((run) => {
    const when = new Date(run.when).toLocaleString([], { dateStyle: "short", timeStyle: "short" });
    const parts = [make("span", when, { className: "where" }), make("strong", run.name), make("span", run.label, { className: run.kind })];
    const button = make("button", parts, { type: "button" });
    button.addEventListener("click", () => {
      $("history-dialog").close();
      restore(run.draft);
      source.focus();
    });
    return make("li", button);
  });
  $("history-list").replaceChildren(...(items.length ? items : [make("li", "Nothing yet.", { className: "empty" })]));
  $("history-dialog").showModal();
}

/** A file of a translated folder, before and after. */
function openPair({ path, before, after }, file) {
  $("task").value = "source:cuda-to-hip";
  taskChanged();
  openText(path.split("/").at(-1), before);
  state.original = before;
  translation.text = after;
  showChanges();
  source.setDiagnostics(file.findings);
  show.cleared(`${path}, as the folder's translation has it.`);
  source.focus();
}

function openText(name, text) {
  state.name = name.replace(/\.[^.]+$/, "") || "program";
  translation.setOriginal(null);
  translation.text = "";
  source.text = text;
}

function openExample(example) {
  noInputs();
  openText(example.name, example.source);
  keepNothing(); // it is there anyway
  $("example").value = example.name;
  show.label("This is an example: press Translate, or paste a program of your own.", "");
}

/** Open {file, path}s: one source in the editor, anything else as a folder. */
async function openFiles(files) {
  if (!files.length) return;
  const [{ file, path }] = files;
  if (files.length > 1 || path.includes("/") || isArchive(path)) {
    await translateFolder(files, checked(), openPair);
    return;
  }
  openText(file.name, await file.text());
  source.focus();
}

function wire() {
  $("go").addEventListener("click", translate);
  $("stop").addEventListener("click", () => state.running?.abort());
  $("task").addEventListener("change", taskChanged);
  $("arch").addEventListener("change", archChanged);
  for (const id of [...FIELDS, "input-files"]) $(id).addEventListener("input", changed);
  // What was typed just before a reload is not kept yet.
  addEventListener("pagehide", () => waiting && kept.keepDraft(draft()));
  $("targets").addEventListener("click", () => state.capabilities && listTargets());
  $("history").addEventListener("click", listHistory);
  $("share").addEventListener("click", share);
  $("forget").addEventListener("click", () => {
    keepNothing();
    kept.forget();
    $("history-dialog").close();
    show.label("Forgotten.", "");
  });
  $("panel-assembly").addEventListener("shown", showListings);
  for (const type of ["keyup", "mouseup"]) {
    $("source").addEventListener(type, () => {
      const { doc, selection } = source.view.state;
      if (!$("panel-assembly").hidden) listings.choose(doc.lineAt(selection.main.head).number);
    });
  }
  $("example").addEventListener("change", () => {
    const example = state.examples.find((each) => each.name === $("example").value);
    if (!example) return;
    openExample(example);
  });
  $("diff").addEventListener("change", showChanges);
  $("copy").addEventListener("click", async () => {
    await navigator.clipboard.writeText(translation.text);
    show.label("Copied.", "");
  });
  $("download").addEventListener("click", () =>
    save(`${state.name}.${task().file}`, new Blob([translation.text], { type: "text/plain" })),
  );
  $("open").addEventListener("click", () => $("file").click());
  $("folder").addEventListener("click", () => $("directory").click());
  for (const id of ["file", "directory"]) {
    $(id).addEventListener("change", async (event) => {
      const files = [...event.target.files];
      event.target.value = "";
      await openFiles(files.map((file) => ({ file, path: file.webkitRelativePath || file.name })));
    });
  }
  const drop = $("source");
  drop.addEventListener("dragover", (event) => {
    event.preventDefault();
    drop.classList.add("over");
  });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", async (event) => {
    if (!event.dataTransfer.files.length) return;
    event.preventDefault();
    drop.classList.remove("over");
    await openFiles(await dropped(event.dataTransfer));
  }, true);
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === "Enter" && !event.defaultPrevented) {
      event.preventDefault();
      translate();
    } else if (event.key === "Escape" && state.running) state.running.abort();
  });
  show.wireTabs();
}

async function askForKey() {
  const dialog = $("key-dialog");
  dialog.showModal();
  await new Promise((done) => dialog.addEventListener("close", done, { once: true }));
  rememberKey($("key").value);
}

async function start() {
  wire();
  const hash = new URLSearchParams(location.hash.slice(1));
  const given = hash.get("key");
  if (given) {
    rememberKey(given);
    history.replaceState(null, "", location.pathname); // not in the address bar, not in bookmarks
  }
  for (;;) {
    try {
      state.capabilities = await api("/v1/capabilities");
      break;
    } catch (error) {
      if (!(error instanceof ApiProblem) || error.status !== 401) {
        show.problem(error);
        return;
      }
      if (hasKey()) show.label("This key is not known to the server.", "bad");
      await askForKey();
    }
  }
  const archs = state.capabilities.architectures.filter((each) => each.startsWith("sm_"));
  options($("asm-nvidia"), archs.map((each) => [each, each]), archs[0]);
  taskChanged();
  const before = kept.draft();
  if (before?.source && !source.text) restore(before);
  state.examples = await api("/v1/examples");
  const texts = state.examples.map((each) => [each.name, each.title]);
  options($("example"), [["", "Example …"], ...texts], "");
  if (hash.has("share")) await openShare(hash.get("share")).catch(show.problem);
  else if (!source.text && state.examples.length) openExample(state.examples[0]);
}

start();
