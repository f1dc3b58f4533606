/** The paths of everything in an account's `~/.svc`. */
import { sha256Hex, utf8Length } from "../async/encodings.ts";
import { CERTIFICATE_FILES, MAX_SOCKET_PATH_BYTES } from "../runtime/system.ts";

/** Absolute paths under `~/.svc`, or under `SVC_HOME`. */
export interface HomePaths {
  root: string;
  config: string;
  /** Held while one process changes `config`. */
  configLock: string;
  pid: string;
  version: string;
  log: string;
  lock: string;
  /** Held while one process starts or replaces the daemon. */
  startLock: string;
  /** The control socket; outside `root` when the path would be too long for a socket. */
  socket: string;
  markers: string;
  /** Which conversations are in REMOTE mode. */
  remote: string;
  journal: string;
  audit: string;
  muted: string;
  /** Held while one process changes `muted`. */
  mutedLock: string;
  /** Since when each session has been in its state. */
  states: string;
  /** Where svc has started agents. */
  projects: string;
  /** The listener's own key pair; paired phones have its public key. */
  identity: string;
  /** Paired phones, each with its secret, and the pairings that wait for one. */
  paired: string;
  /** Held while one process changes `identity` or `paired`. */
  pairedLock: string;
  /** Files from phones. */
  uploads: string;
  /** Which sealed questions were answered: by question, the program that acted on the answer, and the answer's id. */
  answers: string;
  /** The last screen of agents that exited, by session, for the wrapper that was attached. */
  lastWords: string;
  /** The program that hooks and MCP registrations run: it starts the svc that `svc setup` was run with. */
  launcher: string;
  /** The changes of `svc setup`, and the previous content of the files. */
  setup: string;
  /** Held while one process runs `svc setup`. */
  setupLock: string;
  /** How the listener is started where it is a service. */
  service: string;
  /** The sessions that come back after a reboot. */
  kept: string;
  /** Held while one process changes `kept`. */
  keptLock: string;
}

/** The environment that the paths depend on. */
export interface HomePlace {
  /** `SVC_HOME`, if it is set. */
  svcHome?: string | undefined;
  homeDirectory: string;
  /** Resolves a relative `SVC_HOME`. */
  cwd: string;
  uid: number;
}

export async function homePaths(place: HomePlace): Promise<HomePaths> {
  const root = homeRoot(place);
  return {
    root,
    config: `${root}/config.json`,
    configLock: `${root}/config.lock`,
    pid: `${root}/listener.pid`,
    version: `${root}/listener.version`,
    log: `${root}/listener.log`,
    lock: `${root}/listener.lock`,
    startLock: `${root}/start.lock`,
    socket: await socketPath(root, place),
    markers: `${root}/markers`,
    remote: `${root}/remote`,
    journal: `${root}/journal.jsonl`,
    audit: `${root}/audit.jsonl`,
    muted: `${root}/muted.json`,
    mutedLock: `${root}/muted.lock`,
    states: `${root}/states.json`,
    projects: `${root}/projects.json`,
    identity: `${root}/identity`,
    paired: `${root}/paired.json`,
    pairedLock: `${root}/paired.lock`,
    uploads: `${root}/uploads`,
    answers: `${root}/answers`,
    lastWords: `${root}/last-words`,
    launcher: `${root}/bin/svc`,
    setup: `${root}/setup`,
    setupLock: `${root}/setup.lock`,
    service: `${root}/service.json`,
    kept: `${root}/kept.json`,
    keptLock: `${root}/kept.lock`,
  };
}

function homeRoot({ svcHome, homeDirectory, cwd }: HomePlace): string {
  if (!svcHome) return `${homeDirectory}/.svc`;
  return absolutePath(svcHome, cwd).replace(/\/+$/, "") || "/";
}

export function absolutePath(path: string, cwd: string): string {
  return path.startsWith("/") ? path : `${cwd}/${path}`;
}

/** Uses `/tmp` whatever TMPDIR is: services have none, and some agents give their hooks a different one. */
async function socketPath(root: string, { uid }: HomePlace): Promise<string> {
  const plain = `${root}/listener.sock`;
  if (utf8Length(plain) <= MAX_SOCKET_PATH_BYTES) return plain;
  const short = (await sha256Hex(root)).slice(0, 16);
  return `/tmp/svc-${uid}-${short}/listener.sock`;
}

/** Variables with paths: a relative one means a different place in a process with another working directory. */
const PLACES = ["SVC_HOME", "SVC_TMUX_SOCKET", "TMUX_TMPDIR", ...CERTIFICATE_FILES];

/** The environment with these paths made absolute, for the daemon, a service, or an agent's session and its hooks. */
export function withAbsolutePlaces(
  env: Readonly<Record<string, string>>,
  cwd: string,
): Record<string, string> {
  const places = PLACES.flatMap((name) => env[name] ? [[name, absolutePath(env[name], cwd)]] : []);
  return { ...env, ...Object.fromEntries(places) };
}
