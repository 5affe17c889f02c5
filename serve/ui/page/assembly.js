// Highlighting of SASS (Nvidia) and RDNA3 (AMD) assembly: stream tokenizers for CodeMirror.

const COMMENT = /^(\/\/.*|;.*|#.*|\/\*[^*]*\*\/)/;
const NUMBER = /^-?(0x[0-9a-fA-F]+|\d+(\.\d+)?([eE][-+]?\d+)?)\b/;
const DIRECTIVE = /^\.[A-Za-z_][\w.]*/;
const LABEL = /^[.\w$]+:/;

function tokenizer(comment, register, opcode) {
  return {
    startState: () => ({ begin: true }),
    token(stream, state) {
      if (stream.sol()) state.begin = true;
      if (stream.eatSpace()) return null;
      if (stream.match(comment)) return "comment";
      if (stream.match(/^"([^"\\]|\\.)*"?/)) return "string";
      if (state.begin && stream.match(LABEL)) return "labelName";
      if (stream.match(DIRECTIVE)) return "meta";
      if (stream.match(register)) return "variableName";
      if (stream.match(NUMBER)) return "number";
      if (stream.match(opcode)) {
        state.begin = false;
        return "keyword";
      }
      if (!stream.match(/^[\w$.]+/)) stream.next();
      return null;
    },
  };
}

export const sass = tokenizer(
  /^(\/\/.*|\/\*[^*]*\*\/)/,
  /^(U?R(\d+|Z)|U?P(\d|T)|SR_\w+|B\d+|SB\d)\b/,
  /^[A-Z][A-Z0-9]+(\.[A-Z0-9_]+)*\b/,
);

export const rdna3 = tokenizer(
  COMMENT,
  /^([vs](\d+|\[\d+:\d+\])|vcc(_lo|_hi)?|exec(_lo|_hi)?|scc|m0|null|ttmp\d+)(?![\w])/,
  /^(s|v|ds|global|flat|scratch|buffer|image|tbuffer|lds|exp)_\w+/,
);
