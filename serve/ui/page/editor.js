// The editors of the page, bundled with CodeMirror into serve/ui/static/editor.js.

import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { cpp } from "@codemirror/lang-cpp";
import {
  HighlightStyle,
  StreamLanguage,
  bracketMatching,
  indentOnInput,
  indentUnit,
  syntaxHighlighting,
} from "@codemirror/language";
import { lintGutter, setDiagnostics } from "@codemirror/lint";
import { unifiedMergeView } from "@codemirror/merge";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, Text } from "@codemirror/state";
import {
  EditorView,
  drawSelection,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
  placeholder,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { rdna3, sass } from "./assembly.js";

// Colours are custom properties of the page's style sheet: light and dark in one place.
const colours = HighlightStyle.define([
  { tag: [tags.comment], color: "var(--code-comment)", fontStyle: "italic" },
  { tag: [tags.string, tags.character], color: "var(--code-string)" },
  { tag: [tags.number, tags.bool], color: "var(--code-number)" },
  { tag: [tags.keyword, tags.controlKeyword, tags.modifier], color: "var(--code-keyword)" },
  { tag: [tags.typeName, tags.standard(tags.typeName)], color: "var(--code-type)" },
  { tag: [tags.meta, tags.processingInstruction, tags.macroName], color: "var(--code-meta)" },
  { tag: [tags.function(tags.variableName), tags.labelName], color: "var(--code-function)" },
]);

const look = EditorView.theme({
  "&": { height: "100%", backgroundColor: "var(--editor)", color: "var(--text)" },
  ".cm-scroller": { fontFamily: "var(--mono)", fontSize: "13px", lineHeight: "1.5" },
  ".cm-gutters": {
    backgroundColor: "var(--editor)",
    color: "var(--faint)",
    border: "none",
  },
  ".cm-content": { caretColor: "var(--text)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  "&.cm-focused": { outline: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--active-line)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground":
    { backgroundColor: "var(--selection)" },
  ".cm-tooltip": {
    backgroundColor: "var(--panel)",
    color: "var(--text)",
    border: "1px solid var(--line)",
  },
  ".cm-changedLine": { backgroundColor: "var(--added) !important" },
  ".cm-deletedChunk": { backgroundColor: "var(--removed) !important" },
  ".cm-deletedText, .cm-deletedChunk .cm-deletedText": {
    background: "none !important",
    textDecoration: "underline var(--bad) 2px",
  },
  ".cm-placeholder": { color: "var(--faint)" },
});

const LANGUAGES = {
  cpp: () => cpp(),
  sass: () => StreamLanguage.define(sass),
  rdna3: () => StreamLanguage.define(rdna3),
};

export class Editor {
  /** An editor in `parent`; `label` is its accessible name. */
  constructor(parent, { label, readOnly = false, hint = "", onChange = () => {}, keys = [] }) {
    this.language = new Compartment();
    this.merge = new Compartment();
    this.name = "cpp";
    this.view = new EditorView({
      parent,
      state: EditorState.create({
        doc: "",
        extensions: [
          lineNumbers(),
          lintGutter(),
          history(),
          drawSelection(),
          indentOnInput(),
          indentUnit.of("  "),
          bracketMatching(),
          highlightActiveLine(),
          highlightActiveLineGutter(),
          highlightSelectionMatches(),
          syntaxHighlighting(colours),
          look,
          hint ? placeholder(hint) : [],
          // Tab leaves the editor, so that the keyboard is never trapped.
          keymap.of([...keys, ...defaultKeymap, ...historyKeymap, ...searchKeymap]),
          this.language.of(LANGUAGES.cpp()),
          this.merge.of([]),
          EditorState.readOnly.of(readOnly),
          EditorView.contentAttributes.of({
            "aria-label": label,
            tabindex: "0",
            spellcheck: "false",
          }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) onChange();
          }),
        ],
      }),
    });
  }

  get text() {
    return this.view.state.doc.toString();
  }

  set text(value) {
    this.view.dispatch({
      changes: { from: 0, to: this.view.state.doc.length, insert: value },
    });
  }

  /** Append without touching the rest: for text that streams in. */
  append(value) {
    this.view.dispatch({ changes: { from: this.view.state.doc.length, insert: value } });
  }

  setLanguage(name) {
    if (name === this.name) return;
    this.name = name;
    this.view.dispatch({ effects: this.language.reconfigure(LANGUAGES[name]()) });
  }

  /** Show what differs from `original`; null: show the text as it is. */
  setOriginal(original) {
    const extension =
      original === null
        ? []
        : unifiedMergeView({
            original: Text.of(original.split("\n")),
            mergeControls: false,
            highlightChanges: true,
            gutter: true,
          });
    this.view.dispatch({ effects: this.merge.reconfigure(extension) });
  }

  /** Messages at their lines: {line, column, severity, message}, counted from 1. */
  setDiagnostics(found) {
    const doc = this.view.state.doc;
    const diagnostics = found
      .filter((each) => each.line >= 1 && each.line <= doc.lines)
      .map((each) => {
        const line = doc.line(each.line);
        const from = Math.min(line.from + Math.max(each.column - 1, 0), line.to);
        return {
          from,
          to: Math.max(from, line.to),
          severity: each.severity === "note" ? "info" : each.severity,
          message: each.message,
        };
      });
    this.view.dispatch(setDiagnostics(this.view.state, diagnostics));
  }

  goTo(line) {
    const doc = this.view.state.doc;
    if (line < 1 || line > doc.lines) return;
    const at = doc.line(line).from;
    this.view.dispatch({
      selection: { anchor: at },
      effects: EditorView.scrollIntoView(at, { y: "center" }),
    });
    this.view.focus();
  }

  focus() {
    this.view.focus();
  }
}
