// SASS beside AMD's assembly: a line of the program, and what it became on both sides.

import { api } from "./api.js";
import { make } from "./make.js";
import { sameLines } from "./text.js";

const $ = (id) => document.getElementById(id);
const NAMES = { nvidia: "SASS", amd: "AMD assembly" };

/** Scroll a row's listing to it, and nothing around: what one steps with stays in sight. */
function within(row) {
  const listing = row.closest(".asm");
  const top = row.getBoundingClientRect().top - listing.getBoundingClientRect().top;
  if (top < 0 || top + row.offsetHeight > listing.clientHeight) {
    listing.scrollTop += top - listing.clientHeight / 3;
  }
}

export class Listings {
  /** `goTo(line, translated)` shows a line of the program and the one that it became, or 0. */
  constructor(goTo) {
    this.goTo = goTo;
    this.asked = null;
    this.columns = {};
    this.lines = [];
    $("asm-previous").addEventListener("click", () => this.step(-1));
    $("asm-next").addEventListener("click", () => this.step(1));
    $("asm-nvidia").addEventListener("change", () => this.asked && this.load({ ...this.asked, nvidia_arch: $("asm-nvidia").value }));
  }

  clear(text) {
    this.asked = null;
    this.columns = {};
    this.lines = [];
    $("asm-bar").hidden = true;
    $("asm-sides").replaceChildren(make("p", text, { className: "empty" }));
  }

  /** Say what is under way and count its seconds, as long as it stands there. */
  wait(text) {
    this.clear(text);
    const said = $("asm-sides").firstChild;
    const started = performance.now();
    const clock = setInterval(() => {
      if (!said.isConnected) return clearInterval(clock);
      said.textContent = `${text} ${Math.round((performance.now() - started) / 1000)} s`;
    }, 1000);
  }

  /** Ask for both listings of {source, translation, arch}, unless they are here. */
  async show(request) {
    const wanted = { ...request, nvidia_arch: $("asm-nvidia").value };
    if (JSON.stringify(wanted) !== JSON.stringify(this.asked)) await this.load(wanted);
  }

  async load(request) {
    this.wait("Compiling both sides with line tables …");
    this.asked = request;
    try {
      const found = await api("/v1/assembly", {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(request),
      });
      if (this.asked === request) this.draw(found);
    } catch (error) {
      if (this.asked === request) this.clear(error.message);
    }
  }

  draw({ nvidia, amd }) {
    // Lines of both columns are lines of the program: the translation's are led back to it.
    this.became = sameLines(this.asked.source, this.asked.translation);
    const back = new Map([...this.became].map(([left, right]) => [right, left]));
    this.columns = {
      nvidia: this.column(nvidia, (line) => line),
      amd: this.column(amd, (line) => back.get(line) ?? 0),
    };
    $("asm-sides").replaceChildren(this.columns.nvidia, this.columns.amd);
    const all = document.querySelectorAll("#asm-sides [data-line]");
    this.lines = [...new Set([...all].map((each) => Number(each.dataset.line)))].sort((a, b) => a - b);
    $("asm-bar").hidden = false;
    $("asm-line").textContent = this.lines.length ? "no line chosen" : "no line is known";
    for (const id of ["asm-previous", "asm-next"]) $(id).disabled = !this.lines.length;
  }

  column(side, lineOf) {
    const name = `${NAMES[side.vendor]} for ${side.architecture}`;
    const title = make("h3", side.compiler ? `${name} — ${side.compiler}` : name);
    if (side.problem) return make("div", [title, make("pre", side.problem, { tabIndex: 0 })]);
    const code = make("div", [], { className: "asm", tabIndex: 0, role: "region", ariaLabel: name });
    for (const each of side.functions) {
      code.append(make("div", each.name, { className: "asm-function" }));
      each.instructions.forEach((text, index) => {
        const line = lineOf(each.lines[index]);
        const row = make("div", text);
        if (line) row.dataset.line = String(line);
        code.append(row);
      });
    }
    if (side.left_out) code.append(make("p", `${side.left_out} more instructions are not shown.`));
    code.addEventListener("click", (event) => {
      const line = Number(event.target.dataset?.line);
      if (line) this.choose(line, true);
    });
    return make("div", [title, code]);
  }

  step(by) {
    const at = this.lines.findIndex((line) => line >= (this.line ?? 0));
    const exact = this.lines[at] === this.line;
    const next = at < 0 ? (by > 0 ? 0 : this.lines.length - 1) : by > 0 ? at + (exact ? 1 : 0) : at - 1;
    this.choose(this.lines[(next + this.lines.length) % this.lines.length], true);
  }

  /** Mark what a line of the program became; `follow`: show the line itself too. */
  choose(line, follow = false) {
    if (!this.columns.nvidia) return;
    this.line = line;
    const counts = [];
    for (const [vendor, column] of Object.entries(this.columns)) {
      for (const each of column.querySelectorAll(".chosen")) each.classList.remove("chosen");
      const found = column.querySelectorAll(`[data-line="${line}"]`);
      for (const each of found) each.classList.add("chosen");
      if (found.length) within(found[0]);
      counts.push(`${found.length} of ${NAMES[vendor]}`);
    }
    $("asm-line").textContent = `line ${line}: ${counts.join(", ")}`;
    if (follow) this.goTo(line, this.became.get(line) ?? 0);
  }
}
