/**
 * Which programs execute what is typed: shells, programs that lead to one, and prompts, including those that an
 * interpreter runs.
 */
import { programName } from "../../agents/profiles.ts";

/** Programs that must never get a message: interactive shells, and programs that lead to one. */
export const GUARDED_PROGRAMS = [
  ...["bash", "zsh", "fish", "sh", "dash", "ksh", "tcsh", "csh", "pwsh"],
  ...["nu", "elvish", "xonsh", "ash", "mksh", "rbash", "busybox"],
  ...["yash", "posh", "oksh", "loksh", "lksh", "pdksh", "rksh", "rzsh", "bsd-csh", "sash"],
  ...["osh", "ysh", "oils-for-unix", "es", "rc", "ion", "murex"],
  ...["tmux", "screen", "ssh", "sudo", "su", "doas", "login"],
] as const;

/**
 * Programs that execute what is typed, or lead to one that does: a pane that svc did not start takes no message
 * while one of them is in the foreground. Known agents are recognized by their screens instead.
 */
export const COMMAND_PROGRAMS = [
  // Editors.
  ...[
    "vi",
    "vim",
    "nvim",
    "view",
    "vimdiff",
    "ex",
    "ed",
    "red",
    "nano",
    "rnano",
    "pico",
    "emacs",
    "emacsclient",
  ],
  ...["mg", "joe", "jed", "micro", "helix", "hx", "kak", "ne", "mcedit", "tilde", "nvi", "zile", "gvim"],
  // Pagers and viewers that run commands.
  ...[
    "less",
    "more",
    "most",
    "lesspipe",
    "man",
    "info",
    "w3m",
    "lynx",
    "links",
    "elinks",
    "watch",
    "top",
    "htop",
  ],
  ...["tig", "lazygit", "ncdu", "mutt", "neomutt", "weechat", "irssi"],
  // Databases.
  ...["pgcli", "mycli", "litecli", "iredis", "usql"],
  ...[
    "psql",
    "mysql",
    "mariadb",
    "sqlite3",
    "redis-cli",
    "mongo",
    "mongosh",
    "cqlsh",
    "duckdb",
    "clickhouse",
    "sqlplus",
  ],
  // Languages whose program is a prompt, and debuggers.
  ...["ocaml", "utop", "swipl", "mit-scheme", "janet", "r2", "radare2", "cgdb"],
  ...[
    "irb",
    "pry",
    "ghci",
    "iex",
    "erl",
    "scala",
    "sbt",
    "julia",
    "R",
    "octave",
    "maxima",
    "gp",
    "bc",
    "dc",
    "gdb",
  ],
  ...["lldb", "jshell", "groovysh", "clj", "sbcl", "guile", "racket", "tclsh", "wish", "gnuplot", "ipython"],
  ...["bpython", "ptpython", "ptipython", "pdb", "ipdb", "pudb", "psysh", "beam.smp", "ghc"],
  // File managers.
  ...["mc", "ranger", "nnn", "lf", "vifm", "yazi"],
  // Multiplexers, remote shells, and wrappers of other programs.
  ...["asciinema", "tmate", "poetry", "pipenv", "hatch", "toolbox", "distrobox", "vagrant", "limactl"],
  ...["lxc", "incus", "nix", "gcloud", "aws"],
  ...[
    "zellij",
    "byobu",
    "dtach",
    "abduco",
    "mosh",
    "mosh-client",
    "telnet",
    "rlogin",
    "rsh",
    "nc",
    "ncat",
    "socat",
  ],
  ...[
    "docker",
    "podman",
    "kubectl",
    "machinectl",
    "nsenter",
    "chroot",
    "script",
    "rlwrap",
    "expect",
    "ftp",
    "sftp",
  ],
] as const;

/** Debian's alternatives and versions surround the name. */
const COMMAND_PROGRAM = new RegExp(
  `^(${COMMAND_PROGRAMS.map((name) => name.replace(".", "[.]")).join("|")})` +
    "([.](basic|tiny|nox|gtk3?|athena|distrib|real|openbsd|traditional|netkit))?(-(gtk|pgtk|nox|lucid|qt|x11|cli|gui))?[-.0-9]*$",
);

/** Interpreters, which show a prompt unless a script follows. macOS calls its own "Python". */
const INTERPRETER = /^(node|nodejs|deno|bun|qjs|python|pypy|ruby|jruby|perl|php|lua|luajit)[-.0-9]*$/i;
const ASKS_FOR_PROMPT = /^(-[bBdEIOPqsSuvx]*i[bBcdEImOPqsSuvx]*|--interactive|-a|repl)$/;
/** Python's modules that show a prompt. */
const PROMPT_MODULE = /^(IPython|asyncio|code|pdb|ipdb|pudb|bpython|ptpython)$/;
/** Frameworks' scripts open a prompt by such an argument: `manage.py shell`, `artisan tinker`; or have the name themselves. */
const CONSOLE = /^(shell|shell_plus|dbshell|console|dbconsole|tinker)$/;
const RAILS_CONSOLE = /^(c|db)$/;

/** The options of each interpreter whose value is the next argument, which is then not a script. */
const VALUE_OPTIONS: readonly (readonly [interpreter: RegExp, option: RegExp])[] = [
  [/^(python|pypy)/i, /^(-[a-zA-Z]*[WXQ]|--check-hash-based-pycs)$/],
  [
    /^(node|bun|qjs)/i,
    /^(-[rCI]|--(require|import|preload|loader|experimental-loader|conditions|env-file(-if-exists)?|input-type|experimental-default-type|title|icu-data-dir|openssl-config|disable-warning|redirect-warnings|unhandled-rejections|watch-path|inspect-port|include|cwd|config))$/,
  ],
  [/^deno/i, /^(-[cL]|--(config|import-map|env-file|log-level|cert|lock|location|seed|preload|import))$/],
  [/^j?ruby/i, /^(-[a-zA-Z]*[IrEC]|--(encoding|external-encoding|internal-encoding))$/],
  [/^perl/i, /^-[a-zA-Z]*[IMm]$/],
  [/^php/i, /^(-[cdz]|--(php-ini|define|zend-extension))$/],
  [/^lua/i, /^-[lj]$/],
];
/** Their subcommand `run` stands before the script. */
const HAS_RUN = /^(deno|bun)/i;

/**
 * The script, module or code that the interpreter runs; undefined if it reads the terminal. `names`: the interpreter's.
 */
function scriptOf(names: readonly string[], args: readonly string[]): string | undefined {
  const isOne = (pattern: RegExp): boolean => names.some((name) => pattern.test(name));
  const [, takesValue] = VALUE_OPTIONS.find(([interpreter]) => isOne(interpreter)) ?? [];
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? "";
    if (arg === "-") return undefined;
    if (takesValue?.test(arg)) at++;
    else if (!arg.startsWith("-") && !(arg === "run" && isOne(HAS_RUN))) return arg;
  }
  return undefined;
}

/**
 * True if the foreground program executes what is typed. `argv` begins with the program, which may be called by the
 * name of a link. For a script, `program` is its interpreter.
 */
export function isCommandProgram(program: string, argv: readonly string[]): boolean {
  const [called = "", ...args] = argv;
  const names = [program, programName(called)];
  if (names.some((name) => COMMAND_PROGRAM.test(name))) return true;
  if (!names.some((name) => INTERPRETER.test(name))) return false;
  const script = scriptOf(names, args);
  if (script === undefined || args.some((arg) => ASKS_FOR_PROMPT.test(arg))) return true;
  const flag = args.indexOf("-m");
  return COMMAND_PROGRAM.test(programName(script)) || opensConsole(script, args) ||
    (flag >= 0 && PROMPT_MODULE.test(args[flag + 1]?.split(".")[0] ?? ""));
}

function opensConsole(script: string, args: readonly string[]): boolean {
  const name = programName(script);
  const options = args.slice(args.indexOf(script) + 1);
  return [name, ...options].some((arg) => CONSOLE.test(arg)) ||
    (name === "rails" && options.some((arg) => RAILS_CONSOLE.test(arg)));
}

/** A login shell has a leading dash, a version or path may surround the name, and some shells are linked statically. */
export const GUARDED_PATTERN = `^-?(.*/)?(${GUARDED_PROGRAMS.join("|")})(-static)?[-.0-9]*$`;
const GUARDED = new RegExp(GUARDED_PATTERN);

/**
 * True for a guarded program, and for an interpreter that runs one, as Python runs xonsh; it may call itself by that
 * name. `argv`: the process's.
 */
export function isGuardedProgram(program: string, argv: readonly string[] = []): boolean {
  if (GUARDED.test(program)) return true;
  const [called = "", ...args] = argv;
  const names = [program, programName(called)];
  if (!names.some((name) => INTERPRETER.test(name))) return false;
  const script = scriptOf(names, args) ?? "";
  const module = args.includes("-m") ? script.split(".")[0] ?? "" : script;
  return [called, script, module].some((name) => GUARDED.test(name));
}
