// A whole folder: packed here, translated by a job, offered for download.

import { api, raw } from "./api.js";
import { make, problem, select } from "./show.js";
import { zip } from "./zip.js";

const POLL_MILLISECONDS = 700;
const $ = (id) => document.getElementById(id);

export async function translateFolder(files, check) {
  const panel = $("panel-files");
  const root = files[0].webkitRelativePath.split("/")[0] || "folder";
  select("files");
  const bar = make("progress", [], { max: 1, value: 0, ariaLabel: "Progress" });
  const text = make("span", `Packing ${files.length} files …`);
  const stop = make("button", "Cancel", { type: "button" });
  panel.replaceChildren(make("p", [bar, " ", text, " ", stop]));
  try {
    const entries = await Promise.all(
      files.map(async (file) => ({
        name: file.webkitRelativePath.split("/").slice(1).join("/") || file.name,
        data: new Uint8Array(await file.arrayBuffer()),
      })),
    );
    const query = new URLSearchParams({ name: root, check: check === "none" ? "none" : "compile" });
    let job = await api(`/v1/jobs?${query}`, {
      method: "POST",
      headers: { "Content-Type": "application/zip" },
      body: zip(entries),
    });
    stop.addEventListener("click", () => api(`/v1/jobs/${job.id}`, { method: "DELETE" }));
    while (["queued", "running"].includes(job.state)) {
      text.textContent = job.stage ? `${job.stage}: ${job.files_done} of ${job.files_total}` : job.state;
      if (job.files_total) {
        bar.max = job.files_total;
        bar.value = job.files_done;
      }
      await new Promise((done) => setTimeout(done, POLL_MILLISECONDS));
      job = await api(`/v1/jobs/${job.id}`);
    }
    finished(panel, job, root);
  } catch (error) {
    panel.replaceChildren(make("p", error.message));
    problem(error);
  }
}

function finished(panel, job, root) {
  if (job.state !== "done") {
    panel.replaceChildren(make("p", job.problem || `The job is ${job.state}.`));
    return;
  }
  const count = (test) => job.files.filter(test).length;
  const compiled = count((file) => file.compiled);
  const asked = count((file) => file.compiled !== null);
  const save = make("button", "Download the translated folder", { type: "button", className: "primary" });
  save.addEventListener("click", async () => {
    const answer = await raw(`/v1/jobs/${job.id}/result`);
    const link = make("a", [], { href: URL.createObjectURL(await answer.blob()), download: `${root}-translated.zip` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  });
  const summary = `${job.files.length} files, ${count((file) => file.action === "translated")} translated` +
    (asked ? `, ${compiled} of ${asked} compile` : "");
  const head = make("tr", ["File", "What was done", "Compiles", "Findings"].map((name) => make("th", name, { scope: "col" })));
  const rows = job.files.map((file) =>
    make("tr", [
      make("td", file.path),
      make("td", file.action),
      make("td", file.compiled === null ? "" : file.compiled ? "yes" : "no"),
      make("td", String(file.findings.length || "")),
    ]),
  );
  panel.replaceChildren(make("p", [save, " ", summary]), make("table", [head, ...rows]));
  if (job.left_out.length) panel.append(make("pre", job.left_out.join("\n")));
}
