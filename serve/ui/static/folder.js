// A whole folder, or an archive of one: translated by a job; its files open, a patch to download.

import { api, raw } from "./api.js";
import { make, save } from "./make.js";
import { problem, select } from "./show.js";
import { duration } from "./text.js";
import { zip } from "./zip.js";

const POLL_MILLISECONDS = 700;
const $ = (id) => document.getElementById(id);

export const isArchive = (name) => /\.(zip|tar|tgz|gz|bz2|xz|zst)$/i.test(name);

/** Files of a drop, those of folders with their paths: {file, path}. */
export async function dropped(transfer) {
  // Entries are gone after the first await: all of them are asked for before it.
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  const found = [];
  for (const entry of entries) await collect(entry, "", found);
  return found;
}

async function collect(entry, folder, found) {
  const path = folder + entry.name;
  if (entry.isFile) {
    found.push({ path, file: await new Promise((done, failed) => entry.file(done, failed)) });
    return;
  }
  const reader = entry.createReader();
  for (;;) {
    const some = await new Promise((done, failed) => reader.readEntries(done, failed));
    if (!some.length) return;
    for (const each of some) await collect(each, `${path}/`, found);
  }
}

/** Translate {file, path}s, or one archive; `open(texts, findings)` shows a file of the result. */
export async function translateFolder(files, check, open) {
  const panel = $("panel-files");
  const archive = files.length === 1 && isArchive(files[0].path);
  const root = archive ? files[0].path.replace(/\..*$/, "") : files[0].path.split("/")[0] || "folder";
  const started = performance.now();
  select("files");
  const bar = make("progress", [], { max: 1, value: 0, ariaLabel: "Progress" });
  const text = make("span", `Packing ${files.length} files …`);
  const stop = make("button", "Cancel", { type: "button" });
  panel.replaceChildren(make("p", [bar, " ", text, " ", stop]));
  try {
    const body = archive ? files[0].file : zip(await Promise.all(files.map(entryOf)));
    const query = new URLSearchParams({ name: root, check: check === "none" ? "none" : "compile" });
    let job = await api(`/v1/jobs?${query}`, {
      method: "POST",
      headers: { "Content-Type": "application/octet-stream" },
      body,
    });
    stop.addEventListener("click", () => api(`/v1/jobs/${job.id}`, { method: "DELETE" }));
    while (["queued", "running"].includes(job.state)) {
      const far = job.stage ? `${job.stage}: ${job.files_done} of ${job.files_total}` : job.state;
      text.textContent = `${far}, ${Math.round((performance.now() - started) / 1000)} s`;
      if (job.files_total) {
        bar.max = job.files_total;
        bar.value = job.files_done;
      }
      await new Promise((done) => setTimeout(done, POLL_MILLISECONDS));
      job = await api(`/v1/jobs/${job.id}`);
    }
    finished(panel, job, root, open);
  } catch (error) {
    panel.replaceChildren(make("p", error.message));
    problem(error);
  }
}

async function entryOf({ file, path }) {
  const name = path.split("/").slice(1).join("/") || file.name;
  return { name, data: new Uint8Array(await file.arrayBuffer()) };
}

function finished(panel, job, root, open) {
  if (job.state !== "done") {
    panel.replaceChildren(make("p", job.problem || `The job is ${job.state}.`));
    return;
  }
  const count = (test) => job.files.filter(test).length;
  const compiled = count((file) => file.compiled);
  const asked = count((file) => file.compiled !== null);
  const tree = download("Download the translated folder", `/v1/jobs/${job.id}/result`, `${root}-translated.zip`);
  tree.className = "primary";
  const patch = download("Download a patch", `/v1/jobs/${job.id}/patch`, `${root}-translated.patch`);
  patch.title = "For `git apply` in the folder that you opened";
  const summary = `${job.files.length} files, ${count((file) => file.action === "translated")} translated` +
    (asked ? `, ${compiled} of ${asked} compile` : "") + ` (${duration(job.finished - job.created)})`;
  const columns = ["File", "What was done", "Compiles", "Findings"];
  const head = make("tr", columns.map((name) => make("th", name, { scope: "col" })));
  const rows = job.files.map((file) => rowOf(job, file, open));
  panel.replaceChildren(make("p", [tree, " ", patch, " ", summary]), make("table", [head, ...rows]));
  if (job.left_out.length) panel.append(make("pre", job.left_out.join("\n"), { tabIndex: 0 }));
}

function rowOf(job, file, open) {
  const name = make("button", file.path, { type: "button", className: "link" });
  name.addEventListener("click", async () => {
    try {
      const query = new URLSearchParams({ path: file.path });
      open(await api(`/v1/jobs/${job.id}/file?${query}`), file);
    } catch (error) {
      problem(error);
    }
  });
  return make("tr", [
    make("td", name),
    make("td", file.action),
    make("td", file.compiled === null ? "" : file.compiled ? "yes" : "no"),
    make("td", String(file.findings.length || "")),
  ]);
}

function download(text, path, name) {
  const button = make("button", text, { type: "button" });
  button.addEventListener("click", async () => {
    try {
      save(name, await (await raw(path)).blob());
    } catch (error) {
      problem(error);
    }
  });
  return button;
}
