// Calls of API v1 from the page.

const STORED = "cass-key";

/** What the server said went wrong. */
export class ApiProblem extends Error {
  constructor({ message, details = [], request_id = "", code = "" }, status = 0, retryAfter = "") {
    super(message);
    Object.assign(this, { details, id: request_id, code, status, retryAfter });
  }
}

export const hasKey = () => Boolean(sessionStorage.getItem(STORED));
export const rememberKey = (key) => sessionStorage.setItem(STORED, key.trim());

function headers(more) {
  const key = sessionStorage.getItem(STORED);
  return key ? { ...more, Authorization: `Bearer ${key}` } : more;
}

async function send(path, options = {}) {
  const { headers: more, ...rest } = options;
  const response = await fetch(path, { ...rest, headers: headers(more) });
  if (response.ok) return response;
  const body = await response.json().catch(() => null);
  const error = body?.error ?? { message: `the server answered ${response.status}` };
  throw new ApiProblem(error, response.status, response.headers.get("Retry-After") ?? "");
}

/** A JSON answer. */
export async function api(path, options) {
  return (await send(path, options)).json();
}

/** An answer as it is. */
export async function raw(path, options) {
  return send(path, options);
}

/** Server-sent events of a POST: {type, data}. */
export async function* events(path, body, signal) {
  const response = await send(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
    signal,
  });
  let rest = "";
  const decoder = new TextDecoder();
  for await (const bytes of pieces(response.body)) {
    rest += decoder.decode(bytes, { stream: true });
    const blocks = rest.split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const fields = Object.fromEntries(
        block
          .split("\n")
          .filter((line) => line && !line.startsWith(":"))
          .map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1)]),
      );
      if (fields.data) yield { type: fields.event.trim(), data: JSON.parse(fields.data) };
    }
  }
}

async function* pieces(stream) {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
