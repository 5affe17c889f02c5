// Plain text: arguments as a shell splits them, lines of two versions of a text, seconds.

/** Words of a command line: quotes hold a word together, a backslash takes the next character. */
export function words(text) {
  const found = [];
  let word = null;
  let quote = "";
  for (let at = 0; at < text.length; at += 1) {
    const each = text[at];
    if (each === "\\" && quote !== "'" && at + 1 < text.length) {
      at += 1;
      word = (word ?? "") + text[at];
    } else if (quote) {
      if (each === quote) quote = "";
      else word += each;
    } else if (each === '"' || each === "'") {
      quote = each;
      word ??= "";
    } else if (/\s/.test(each)) {
      if (word !== null) found.push(word);
      word = null;
    } else word = (word ?? "") + each;
  }
  if (word !== null) found.push(word);
  return found;
}

/** A word as it stands on a command line. */
export const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`);

/** Line of `left` -> line of `right` (from 1) that it stayed or became: a Map.
 *
 * Lines that stand once in both are anchors where they are in the same order (patience diff);
 * between anchors equal numbers of lines are taken one by one, others are not known.
 */
export function sameLines(left, right) {
  const [a, b] = [left.split("\n"), right.split("\n")];
  const found = new Map();
  let [i, j] = [0, 0];
  for (const [x, y] of [...anchors(a, b), [a.length, b.length]]) {
    if (x - i === y - j) for (; i < x; i += 1, j += 1) found.set(i + 1, j + 1);
    if (x < a.length) found.set(x + 1, y + 1);
    [i, j] = [x + 1, y + 1];
  }
  return found;
}

function anchors(a, b) {
  const [inA, inB] = [once(a), once(b)];
  const pairs = [...inA].filter(([line]) => inB.has(line)).map(([line, x]) => [x, inB.get(line)]);
  pairs.sort((p, q) => p[0] - q[0]);
  // The longest run of pairs that rise on both sides (patience sorting).
  const tops = [];
  const before = new Map();
  for (const pair of pairs) {
    let [low, high] = [0, tops.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (tops[middle][1] < pair[1]) low = middle + 1;
      else high = middle;
    }
    before.set(pair, low ? tops[low - 1] : null);
    tops[low] = pair;
  }
  const rising = [];
  for (let pair = tops.at(-1) ?? null; pair; pair = before.get(pair)) rising.push(pair);
  return rising.reverse();
}

function once(lines) {
  const at = new Map();
  lines.forEach((line, index) => at.set(line, at.has(line) ? -1 : index));
  return new Map([...at].filter(([, index]) => index >= 0));
}

export const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1);

export const duration = (seconds) =>
  seconds < 1 ? `${Math.max(1, Math.round(seconds * 1000))} ms` : `${seconds.toFixed(1)} s`;
