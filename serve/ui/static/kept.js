// What this browser keeps: the program in the editor, and the programs that were checked.
// Nothing of it leaves the browser; "Forget all" removes it.

const DRAFT = "cass-draft";
const HISTORY = "cass-history";
const PACE = "cass-pace";
const MOST = 20;
const CHARACTERS = 2_000_000; // browsers give a page about five million

function read(key) {
  try {
    return JSON.parse(localStorage.getItem(key));
  } catch {
    return null; // private mode, or another version's text
  }
}

function write(key, value) {
  try {
    localStorage.setItem(key, JSON.stringify(value));
    return true;
  } catch {
    return false; // full, or not allowed: the page works without
  }
}

export const draft = () => read(DRAFT);
export const keepDraft = (value) => write(DRAFT, value);

/** Runs, the newest first: {when, name, label, kind, draft}. */
export function history() {
  const found = read(HISTORY);
  return Array.isArray(found) ? found : [];
}

/** Add a run; one of the same program with the same settings takes the place of the older one. */
export function remember(run) {
  const same = JSON.stringify(run.draft);
  const runs = [run, ...history().filter((each) => JSON.stringify(each.draft) !== same)];
  let kept = runs.slice(0, MOST);
  while (kept.length && (JSON.stringify(kept).length > CHARACTERS || !write(HISTORY, kept))) {
    kept = kept.slice(0, -1);
  }
}

/** Seconds that a stage took here the last time; before the first, those of a small program. */
export const pace = (stage) => read(PACE)?.[stage] ?? { compile: 1, execute: 8 }[stage] ?? 0;
export const keepPace = (stage, seconds) => write(PACE, { ...read(PACE), [stage]: seconds });

export function forget() {
  for (const key of [DRAFT, HISTORY, PACE]) {
    try {
      localStorage.removeItem(key);
    } catch {
      // nothing was kept
    }
  }
}
