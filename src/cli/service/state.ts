/** What `svc service status` and `svc verify` say of the installed services. */
import { runtime } from "#runtime";
import { shellLine } from "../installation.ts";
import { type PlaceOptions, type PlanOptions, prepare, userName } from "./plan.ts";
import { SERVICE_MARK, SERVICE_NAMES, type ServiceName, startedWords } from "./units.ts";

export interface ServiceState {
  service: ServiceName;
  system: boolean;
  file: string;
  running: boolean;
  /** A file that it starts and that is gone. */
  missing: string | null;
  /** Another svc that it starts. */
  other: string | null;
  /** The command that writes its file anew for this svc. */
  install: string;
  log: string;
}

/** The installed services that start a file that is gone, or another svc. */
export async function servicesToMend(): Promise<ServiceState[]> {
  const states = await allStates({});
  return states.filter(({ missing, other }) => missing !== null || other !== null);
}

function installLine(
  service: ServiceName,
  { system, words }: { system: boolean; words: readonly string[] },
): string {
  const at = words.indexOf("server");
  const server = service === "relay" && at >= 0 ? words.slice(at + 1) : [];
  const place = system ? ["--system"] : [];
  return shellLine([
    "svc",
    "service",
    "install",
    service,
    ...place,
    ...(server.length > 0 ? ["--", ...server] : []),
  ]);
}

export async function allStates(options: PlaceOptions): Promise<ServiceState[]> {
  const states: ServiceState[] = [];
  for (const service of SERVICE_NAMES) {
    for (const system of [undefined, true] as const) {
      states.push(...await stateOf(service, { ...options, system, server: [], shown: true }));
    }
  }
  return states;
}

/** What restarts the relays that run as services of this svc, on the version that is installed now. */
export async function relayRestarts(): Promise<{ argv: readonly string[]; needsRoot: boolean }[]> {
  const relays = (await allStates({})).filter(({ service, running, other, missing }) =>
    service === "relay" && running && other === null && missing === null
  );
  return await Promise.all(relays.map(async ({ service, system }) => {
    const { manager } = await prepare(service, { system: system || undefined, server: [], shown: true });
    return { argv: manager.restart, needsRoot: system && runtime.uid !== 0 };
  }));
}

async function stateOf(service: ServiceName, options: PlanOptions): Promise<ServiceState[]> {
  const user = options.system ? options.user ?? runtime.env.get("SUDO_USER") ?? userName() : undefined;
  const { manager } = await prepare(service, { ...options, user });
  const text = await runtime.files.readText(manager.file);
  if (!text?.includes(SERVICE_MARK)) return [];
  const words = startedWords(text);
  const system = options.system === true;
  const missing = await missingFile(words);
  return [{
    service,
    system,
    install: installLine(service, { system, words }),
    file: manager.file,
    running: (await runtime.commands.run(manager.isActive)).code === 0,
    missing,
    other: missing === null ? otherSvc(words, service) : null,
    log: manager.showLog,
  }];
}

export function statusLines(states: readonly ServiceState[]): string[] {
  if (states.length === 0) return ["No service is installed. To install one: svc service install listener"];
  return states.flatMap((state) => {
    const { service, system, file, running, missing, other, log } = state;
    const gone = missing === null ? [] : [`it starts "${missing}", which is gone`];
    const old = other === null ? [] : [`it starts another svc than this: ${other}`];
    return [
      `${service}${system ? " (system)" : ""}: ${running ? "running" : "not running"}, ${file}`,
      `    log: ${log}`,
      ...[...gone, ...old].map((what) => `    → ${what}; run: ${state.install}`),
    ];
  });
}

/** The first of these words that names a file of svc's which no longer exists. */
async function missingFile(words: readonly string[]): Promise<string | null> {
  const files = words.filter((word) => /^\/.*\/(deno|node|svc|cli\.[tj]s|deno\.json)$/.test(word));
  for (const path of files) if (await runtime.files.info(path) === undefined) return path;
  return null;
}

/** The svc in these words, if it is another one than this. */
function otherSvc(words: readonly string[], name: ServiceName): string | null {
  const own = runtime.selfCommand();
  if (own.every((word, at) => words[at] === word)) return null;
  const end = words.indexOf(name === "relay" ? "server" : "listener");
  return shellLine(words.slice(0, end < 0 ? undefined : end));
}
