/** Reads the facts that the rules of the tree judge from a source's syntax tree. */
/// <reference lib="deno.unstable" />

export interface FunctionFact {
  name: string;
  firstLine: number;
  lines: number;
  parameters: number;
}

/** The facts of one file. Paths are relative to the checkout. */
export interface Facts {
  path: string;
  text: string;
  lines: number;
  /** Every specifier: plain, type-only, re-exported and dynamic. */
  imports: string[];
  functions: FunctionFact[];
  /** Lines that name a runtime's global. */
  runtimeGlobals: number[];
  /** Forbidden syntax as `line: what`. */
  forbidden: string[];
  /** Lines that wait for a fixed time: `setTimeout` inside a promise. */
  sleeps: number[];
}

type FunctionNode =
  | Deno.lint.FunctionDeclaration
  | Deno.lint.FunctionExpression
  | Deno.lint.ArrowFunctionExpression;

const RUNTIME_GLOBALS = ["Deno", "Bun"];

/** Members that distinguish Node's `process` from a variable with that name. */
const PROCESS_MEMBERS = [
  "argv",
  "env",
  "exit",
  "nextTick",
  "platform",
  "stderr",
  "stdin",
  "stdout",
  "versions",
];

function nameOf(node: FunctionNode): string {
  if (node.type === "FunctionDeclaration") return node.id?.name ?? "default";
  const parent = node.parent;
  if (parent.type === "VariableDeclarator" && parent.id.type === "Identifier") return parent.id.name;
  if ((parent.type === "MethodDefinition" || parent.type === "Property") && "name" in parent.key) {
    return String(parent.key.name);
  }
  return "anonymous";
}

/** True if the identifier is the runtime's global; a property's name, as in `a.Deno` or `{ Deno: 1 }`, is not. */
function isRuntimeGlobal(node: Deno.lint.Identifier): boolean {
  if (!RUNTIME_GLOBALS.includes(node.name)) return false;
  const parent = node.parent;
  if (parent.type === "MemberExpression") return parent.object === node || parent.computed;
  return parent.type !== "Property" || parent.value === node;
}

/** The tree wraps the string of `import("…").T` in one more node than its types say. */
function literalOf(node: Deno.lint.TSImportType): { value: unknown } {
  const { argument } = node;
  return "literal" in argument && "value" in argument.literal ? argument.literal : { value: undefined };
}

function isProcess(node: Deno.lint.MemberExpression): boolean {
  const { object, property } = node;
  return object.type === "Identifier" && object.name === "process" &&
    property.type === "Identifier" && PROCESS_MEMBERS.includes(property.name);
}

function enclosingFunction(node: Deno.lint.Node | Deno.lint.TSParameterProperty): FunctionNode | undefined {
  if (node.type === "Program" || !("parent" in node)) return undefined;
  const { parent } = node;
  const isFunction = parent.type === "ArrowFunctionExpression" || parent.type === "FunctionExpression";
  return isFunction ? parent : enclosingFunction(parent);
}

/** True for `new Promise((resolve) => setTimeout(resolve, …))`: the timer calls the executor's first parameter. */
function isSleep(node: Deno.lint.CallExpression): boolean {
  const isTimer = node.callee.type === "Identifier" && node.callee.name === "setTimeout";
  const given = node.arguments[0];
  const executor = enclosingFunction(node);
  if (!isTimer || given?.type !== "Identifier" || executor?.parent.type !== "NewExpression") return false;
  const [resolve] = executor.params;
  return resolve?.type === "Identifier" && resolve.name === given.name;
}

function emptyFacts(path: string, text: string): Facts {
  const lines = text.trimEnd().split("\n").length;
  return { path, text, lines, imports: [], functions: [], runtimeGlobals: [], forbidden: [], sleeps: [] };
}

/** Returns a visitor that fills `facts` while the syntax tree is walked. */
function gather(facts: Facts): Deno.lint.LintVisitor {
  const lineAt = (offset: number): number => facts.text.slice(0, offset).split("\n").length;
  const line = (node: { range: [number, number] }): number => lineAt(node.range[0]);
  const forbid = (what: string) => (node: { range: [number, number] }): void =>
    void facts.forbidden.push(`${line(node)}: ${what}`);
  const importFrom = (source: { value: unknown } | null | undefined): void => {
    if (typeof source?.value === "string") facts.imports.push(source.value);
  };
  const addFunction = (node: FunctionNode): void => {
    const lines = lineAt(node.range[1]) - line(node) + 1;
    facts.functions.push({
      name: nameOf(node),
      firstLine: line(node),
      lines,
      parameters: node.params.length,
    });
  };
  return {
    ImportDeclaration: (node) => importFrom(node.source),
    ExportNamedDeclaration: (node) => importFrom(node.source),
    ExportAllDeclaration: (node) => importFrom(node.source),
    ImportExpression: (node) => importFrom("value" in node.source ? node.source : null),
    TSImportType: (node) => importFrom(literalOf(node)),
    FunctionDeclaration: addFunction,
    FunctionExpression: addFunction,
    ArrowFunctionExpression: addFunction,
    TSEnumDeclaration: forbid("enum"),
    TSAnyKeyword: forbid("any"),
    ExportDefaultDeclaration: forbid("default export"),
    CallExpression: (node) => void (isSleep(node) && facts.sleeps.push(line(node))),
    MemberExpression: (node) => void (isProcess(node) && facts.runtimeGlobals.push(line(node))),
    Identifier: (node) => void (isRuntimeGlobal(node) && facts.runtimeGlobals.push(line(node))),
  };
}

/** Reads a file's facts. Works only inside `deno test`, because the parser is the linter's. */
export function readFacts(path: string, text: string): Facts {
  const facts = emptyFacts(path, text);
  const rule = { create: () => gather(facts) };
  Deno.lint.runPlugin({ name: "facts", rules: { facts: rule } }, path, text);
  return facts;
}
