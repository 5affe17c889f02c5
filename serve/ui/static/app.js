// The page: sends a program, shows the stages of its answer as they come.

import { Editor } from "./editor.js";
import { api, ApiProblem, events, hasKey, rememberKey } from "./api.js";
import * as show from "./show.js";
import { translateFolder } from "./folder.js";

const $ = (id) => document.getElementById(id);

const TASKS = {
  "source:cuda-to-hip": { from: "CUDA", to: "HIP", left: "cpp", right: "cpp", file: "hip" },
  "assembly:cuda-to-hip": { from: "CUDA", to: "RDNA3", left: "cpp", right: "rdna3", file: "s" },
  "source:hip-to-cuda": { from: "HIP", to: "CUDA", left: "cpp", right: "cpp", file: "cu" },
};

const state = { capabilities: null, examples: [], running: null, name: "program", answered: null };

const run = { key: "Mod-Enter", run: () => (translate(), true) };
const source = new Editor($("source"), {
  label: "Program to translate",
  hint: "Paste a program here, or drop a file.",
  onChange: () => source.setDiagnostics([]),
  keys: [run],
});
const translation = new Editor($("translation"), {
  label: "Translation",
  readOnly: true,
  hint: "The translation appears here.",
});

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
  if (!target) return [name, name];
  const use = target.problem ? "not here" : target.executed ? "runs here" : "compiled only";
  return [name, `${name} (${target.family}, ${use})`, target.problem];
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
}

function inputs() {
  const text = $("arguments").value.trim();
  return text ? [{ arguments: text.split(/\s+/) }] : [];
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
    check: $("check").value,
    inputs: inputs(),
    stream: true,
  };
  state.running = new AbortController();
  working(true);
  show.reset(request.check);
  translation.setOriginal(null);
  translation.text = "";
  source.setDiagnostics([]);
  try {
    for await (const event of events("/v1/translate", request, state.running.signal)) {
      happened(event);
    }
  } catch (error) {
    if (error.name === "AbortError") show.stopped();
    else show.problem(error);
  } finally {
    state.running = null;
    working(false);
  }
}

function working(busy) {
  $("go").disabled = busy;
  $("stop").hidden = !busy;
  $("outcome").setAttribute("aria-busy", String(busy));
}

function happened({ type, data }) {
  if (type === "token") translation.append(data.text);
  else if (type === "translation") {
    translation.text = data.source;
    source.setDiagnostics(data.findings);
    show.stage("translate", "good");
  } else if (type === "stage") show.checkStage(data);
  else if (type === "error") throw new ApiProblem(data);
  else if (type === "result") {
    state.answered = data;
    if (translation.text !== data.translation) translation.text = data.translation;
    translation.setOriginal($("diff").checked && !$("diff").disabled ? source.text : null);
    source.setDiagnostics(data.findings);
    translation.setDiagnostics(data.verdict.compile?.diagnostics ?? []);
    show.result(data, {
      source: (line) => source.goTo(line),
      translation: (line) => translation.goTo(line),
    });
  }
}

function openText(name, text) {
  state.name = name.replace(/\.[^.]+$/, "") || "program";
  source.text = text;
}

async function openFiles(files) {
  if (files.length === 1 && !files[0].webkitRelativePath) {
    openText(files[0].name, await files[0].text());
    source.focus();
    return;
  }
  if (files.length) await translateFolder(files, $("check").value);
}

function save(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function wire() {
  $("go").addEventListener("click", translate);
  $("stop").addEventListener("click", () => state.running?.abort());
  $("task").addEventListener("change", taskChanged);
  $("example").addEventListener("change", () => {
    const example = state.examples.find((each) => each.name === $("example").value);
    if (!example) return;
    openText(example.name, example.source);
    $("arguments").value = "";
  });
  $("diff").addEventListener("change", () =>
    translation.setOriginal($("diff").checked && state.answered ? source.text : null),
  );
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
      await openFiles(files);
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
    await openFiles([...event.dataTransfer.files]);
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
  const given = new URLSearchParams(location.hash.slice(1)).get("key");
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
  taskChanged();
  state.examples = await api("/v1/examples");
  const texts = state.examples.map((each) => [each.name, each.title]);
  options($("example"), [["", "choose …"], ...texts], "");
}

start();
