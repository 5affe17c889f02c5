// What a run of the program is given: arguments, standard input, files, and what it is to print.

import { words } from "./text.js";

const $ = (id) => document.getElementById(id);

const base64 = (file) =>
  new Promise((done, failed) => {
    const reader = new FileReader();
    reader.onload = () => done(reader.result.slice(reader.result.indexOf(",") + 1));
    reader.onerror = () => failed(new Error(`${file.name} cannot be read: ${reader.error.message}`));
    reader.readAsDataURL(file);
  });

/** The runs of a request: one, or none where nothing is given. */
export async function inputs() {
  const chosen = [...$("input-files").files];
  const contents = await Promise.all(chosen.map(async (file) => [file.name, await base64(file)]));
  const given = { arguments: words($("arguments").value) };
  if ($("stdin").value) given.stdin = $("stdin").value;
  if (contents.length) given.files = Object.fromEntries(contents);
  if ($("expected").value) given.expected_stdout = $("expected").value;
  return given.arguments.length || Object.keys(given).length > 1 ? [given] : [];
}

/** Forget them, as for another program. */
export function noInputs() {
  for (const id of ["arguments", "stdin", "input-files", "expected"]) $(id).value = "";
  openBoxes();
}

/** What is given is not hidden. */
export function openBoxes() {
  $("expected-box").open = Boolean($("expected").value);
  $("inputs-box").open = Boolean($("stdin").value || $("input-files").files.length);
}
