/** Every file of `~/.svc` and of the relay's folder, cut at each byte of its last record or replaced by junk. */
import assert from "node:assert/strict";
import { loadConfig } from "../../src/home/config.ts";
import { openAudit, openLog, parseAuditLine } from "../../src/home/log_files.ts";
import { openJournal } from "../../src/home/journal.ts";
import { changeKept, loadKept } from "../../src/listener/kept_sessions.ts";
import { tryLock } from "../../src/home/lock.ts";
import { takeMarker, writeMarker } from "../../src/home/markers.ts";
import { changeMuted, isMuted, loadMuted } from "../../src/home/muted.ts";
import {
  changePaired,
  ensureIdentity,
  loadIdentity,
  loadPaired,
  setDamagedAside,
} from "../../src/home/pairing.ts";
import { type HomePaths, homePaths } from "../../src/home/paths.ts";
import { recordService, startService } from "../../src/home/daemon.ts";
import { readRemote, writeRemote } from "../../src/hooks/follow_remote.ts";
import { mendHome } from "../../src/listener/daemon.ts";
import { KnownProjects } from "../../src/listener/projects.ts";
import { statesFile } from "../../src/listener/inventory/session_entry.ts";
import type { Files, Runtime } from "../../src/runtime/types.ts";
import { hasStore, noteNats, openRelayStore } from "../../src/store/open.ts";
import { openStore } from "../../src/store/sqlite.ts";
import type { Case } from "../helpers/on_node.ts";
import { aKey, aPush } from "./store_samples.ts";

interface Home {
  runtime: Runtime;
  files: Files;
  paths: HomePaths;
  /** The relay's folder. */
  data: string;
}

/** One file: how it is written, and what must hold after any damage. */
interface Kind {
  path(home: Home): string;
  /** Writes something acknowledged, and then the last record. */
  write(home: Home): Promise<void>;
  /**
   * Uses the file as the program does; throws when something acknowledged is lost without a report. `lines`: the
   * reports.
   */
  use(home: Home, damage: Damage, lines: string[]): Promise<void>;
  /** Whether a damaged file is worthless and is replaced without a report. */
  isSilent?: true;
  /** Returns where the last record begins; without it the whole file is one record. */
  lastRecord?(text: string): number;
}

interface Damage {
  name: string;
  /** Whether only the last record is affected. */
  isCut: boolean;
  /** Whether a cut left the whole record, with or without its line break. */
  isWhole: boolean;
}

const NOW = 1_795_000_000_000;
const id = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
const lastLine = (text: string): number => text.trimEnd().lastIndexOf("\n") + 1;
const AUDIT = {
  time: "2026-11-20T00:00:00.000Z",
  device: "dev_phone_1",
  pane: "%1",
  digest: "ab".repeat(32),
  length: 12,
  outcome: "submitted",
};

/** Throws unless the loader's error names the file and says what to do. */
async function saysWhy(path: string, work: () => Promise<unknown>): Promise<void> {
  await assert.rejects(work, (error: Error) => {
    assert.ok(error.message.includes(path), error.message);
    assert.match(error.message, /Remove|Fix|Put|Restart|Move|Set/);
    assert.doesNotMatch(error.message, /\n/);
    return true;
  });
}

const KINDS: Record<string, Kind> = {
  "config.json": {
    path: ({ paths }) => paths.config,
    write: ({ files, paths }) =>
      files.replaceText(paths.config, `${JSON.stringify({ apiKey: "svc_x", wsUrl: "ws://r/ws" })}\n`),
    isSilent: true,
    async use({ files, paths }, { isWhole }) {
      if (isWhole) assert.equal((await loadConfig(files, paths)).apiKey, "svc_x");
      else await saysWhy(paths.config, () => loadConfig(files, paths));
    },
  },
  "journal.jsonl": {
    path: ({ paths }) => paths.journal,
    lastRecord: lastLine,
    async write({ files, paths }) {
      const journal = await openJournal({ files, path: paths.journal, now: () => NOW });
      await journal.record(id(1), { step: "done", outcome: "submitted" });
      await journal.record(id(2), { step: "typing" });
      await journal.close();
    },
    async use({ files, paths }, { isCut, isWhole }) {
      const text = await files.readText(paths.journal) ?? "";
      const journal = await openJournal({ files, path: paths.journal, now: () => NOW });
      if (isCut) assert.equal(journal.state(id(1))?.step, "done");
      if (isWhole) assert.equal(journal.state(id(2))?.step, "typing");
      if (journal.damaged > 0) assert.equal(await files.readText(`${paths.journal}.damaged`), text);
      await journal.record(id(3), { step: "accepted" });
      await journal.close();
      const again = await openJournal({ files, path: paths.journal, now: () => NOW });
      assert.equal(again.state(id(3))?.step, "accepted");
      await again.close();
    },
    isSilent: true,
  },
  "audit.jsonl": {
    path: ({ paths }) => paths.audit,
    lastRecord: lastLine,
    isSilent: true,
    write: ({ files, paths }) => audit(files, paths, ["svc-a", "svc-b"]),
    async use({ files, paths }, { isCut, isWhole }) {
      await audit(files, paths, ["svc-c"]);
      const lines = (await files.readText(paths.audit) ?? "").split("\n");
      const sessions = lines.flatMap((line) => parseAuditLine(line)?.session ?? []);
      const kept = isWhole ? ["svc-a", "svc-b"] : isCut ? ["svc-a"] : [];
      assert.deepEqual(sessions, [...kept, "svc-c"]);
    },
  },
  "listener.log": {
    path: ({ paths }) => paths.log,
    lastRecord: lastLine,
    isSilent: true,
    write: ({ files, paths }) => log(files, paths, ["one", "two"]),
    async use({ files, paths }, { isCut }) {
      await log(files, paths, ["three"]);
      const lines = (await files.readText(paths.log) ?? "").split("\n").map((line) => line.split("] ")[1]);
      if (isCut) assert.equal(lines[0], "one");
      assert.equal(lines.at(-2), "three");
    },
  },
  "identity": {
    path: ({ paths }) => paths.identity,
    write: async ({ files, paths }) => void await ensureIdentity(files, paths),
    async use({ files, paths }, { isWhole }) {
      if (isWhole) assert.ok(await loadIdentity(files, paths));
      else await saysWhy(paths.identity, () => ensureIdentity(files, paths));
    },
  },
  "paired.json": {
    path: ({ paths }) => paths.paired,
    write: async ({ files, paths }) =>
      void await changePaired(files, paths, () => ({ phones: [], pending: [], floor: "psk" })),
    async use({ files, paths }, { isWhole }) {
      if (!isWhole) {
        await saysWhy(paths.paired, () => changePaired(files, paths, (file) => file));
        assert.equal(await setDamagedAside(files, paths), `${paths.paired}.damaged`);
      }
      assert.equal((await loadPaired(files, paths)).floor, "psk");
    },
  },
  "muted.json": {
    path: ({ paths }) => paths.muted,
    write: async ({ files, paths }) =>
      void await changeMuted(files, paths, () => ({ directories: ["/p"], byPhone: [] })),
    async use({ files, paths }, { isWhole }) {
      assert.ok(isMuted(await loadMuted(files, paths), "/p"), "a muted project takes messages");
      if (!isWhole) await saysWhy(paths.muted, () => changeMuted(files, paths, (muted) => muted));
    },
  },
  "kept.json": {
    path: ({ paths }) => paths.kept,
    write: ({ files, paths }) =>
      changeKept(files, paths, () => [
        { session: "svc-a", agent: "cc", directory: "/p", args: [], boot: "1" },
      ]),
    async use({ files, paths }, { isWhole }) {
      if (isWhole) assert.equal((await loadKept(files, paths)).length, 1);
      else await saysWhy(paths.kept, () => changeKept(files, paths, (kept) => kept));
    },
  },
  "states.json": {
    path: ({ paths }) => paths.states,
    write: ({ files, paths }) => statesFile(files, paths).save({ "svc-a": { state: "idle", at: NOW } }),
    async use({ files, paths }, { isWhole }) {
      const states = statesFile(files, paths);
      assert.equal(Object.keys(await states.load()).length, isWhole ? 1 : 0);
      await states.save({ "svc-b": { state: "idle", at: NOW } });
    },
  },
  "projects.json": {
    path: ({ paths }) => paths.projects,
    write: ({ files, paths }) => new KnownProjects(files, paths).learn([{ project: "p", directory: "/p" }]),
    async use({ files, paths }, { isWhole }) {
      const projects = new KnownProjects(files, paths);
      assert.equal((await projects.list()).length, isWhole ? 1 : 0);
      await projects.learn([{ project: "q", directory: "/q" }]);
    },
  },
  "service.json": {
    path: ({ paths }) => paths.service,
    write: ({ files, paths }) => recordService(files, paths, { start: ["true"] }),
    async use({ runtime, paths }, { isWhole }) {
      assert.equal(await startService(runtime, paths), isWhole);
    },
  },
  "a marker": {
    path: ({ paths }) => `${paths.markers}/${"a".repeat(64)}.${NOW}.00000000.${"b".repeat(64)}`,
    write: async (home) => {
      await home.files.makeDirectory(home.paths.markers);
      await home.files.writeText(KINDS["a marker"]?.path(home) ?? "", '{"length":3}\n');
    },
    isSilent: true,
    async use({ files, paths }) {
      const text = { dir: "/p", text: "hello", now: NOW };
      await writeMarker({ files, markers: paths.markers }, text);
      assert.ok(await takeMarker({ files, markers: paths.markers }, text));
    },
  },
  "a conversation's mode": {
    path: ({ paths }) => `${paths.remote}/cc.c1`,
    write: ({ files, paths }) =>
      writeRemote({ files, remote: paths.remote }, { agent: "cc", id: "c1" }, "on"),
    isSilent: true,
    async use({ files, paths }, { isWhole }) {
      const mode = await readRemote({ files, remote: paths.remote }, { agent: "cc", id: "c1" });
      assert.equal(mode, isWhole ? "on" : "off");
    },
  },
  ...Object.fromEntries(
    (["lock", "startLock", "pairedLock", "mutedLock", "keptLock", "setupLock"] as const).map((
      name,
    ): [string, Kind] => [
      name,
      {
        path: ({ paths }) => paths[name],
        write: async ({ files, paths }) => (await tryLock(files, paths[name]))?.release(),
        isSilent: true,
        async use({ files, paths }) {
          const lock = await tryLock(files, paths[name]);
          assert.ok(lock);
          assert.equal(await tryLock(files, paths[name]), undefined);
          lock.release();
        },
      },
    ]),
  ),
  "relay.lock": {
    path: ({ data }) => `${data}/relay.lock`,
    write: async ({ data }) => await (await openStore(data, { only: "relay" })).close(),
    isSilent: true,
    use: async ({ data }) => await (await openStore(data, { only: "relay" })).close(),
  },
  "nats.json": {
    path: ({ data }) => `${data}/nats.json`,
    write: ({ data }) => noteNats(data, { servers: ["nats://127.0.0.1:1"], prefix: "svc" }),
    isSilent: true,
    async use({ data }, { isWhole }) {
      assert.ok(await hasStore(data));
      if (!isWhole) await saysWhy(`${data}/nats.json`, () => openRelayStore(data));
    },
  },
  "relay.db": {
    path: ({ data }) => `${data}/relay.db`,
    async write({ data }) {
      const store = await openStore(data);
      await store.insertKey(aKey(1));
      await store.insertPush(aPush(1));
      await store.close();
    },
    isSilent: true,
    async use({ data }, { isWhole, name }) {
      if (isWhole) return await hasPush(data, 1);
      if (name === "empty") return await (await openStore(data)).close();
      await saysWhy(`${data}/relay.db`, () => openStore(data));
    },
  },
};

async function audit(files: Files, paths: HomePaths, sessions: readonly string[]): Promise<void> {
  const file = openAudit(files, paths.audit);
  for (const session of sessions) file.record({ ...AUDIT, session });
  await file.close();
}

async function log(files: Files, paths: HomePaths, lines: readonly string[]): Promise<void> {
  const file = openLog(files, { path: paths.log, now: () => NOW });
  for (const line of lines) file.line(line);
  await file.close();
}

async function hasPush(data: string, n: number): Promise<void> {
  const store = await openStore(data);
  const found = await store.findPush({ account: "a", id: aPush(n).push.id });
  await store.close();
  assert.ok(found, `push ${n} is lost`);
}

async function makeHome(runtime: Runtime, root: string): Promise<Home> {
  const paths = await homePaths({
    svcHome: `${root}/.svc`,
    homeDirectory: root,
    cwd: root,
    uid: runtime.uid,
  });
  await runtime.files.makeDirectory(paths.root);
  return { runtime, files: runtime.files, paths, data: `${paths.root}/server` };
}

const JUNK: Record<string, string> = {
  "empty": "",
  "zeros": "\0".repeat(5_000),
  "junk": "junk \u0007{[".repeat(500),
  "a number": "42\n",
  "a list": "[]\n",
  "fields of other types":
    '{"directories":5,"phones":"x","sessions":{},"projects":0,"start":1,"apiKey":1,"kty":"EC"}\n',
};

/** Starts like the listener, and then uses the file. */
async function check(home: Home, kind: Kind, damage: Damage): Promise<void> {
  try {
    const lines = await mendHome(home.files, home.paths);
    const path = kind.path(home);
    const isReported = lines.some((line) => line.includes(path));
    if (kind.isSilent !== true) assert.equal(isReported, !damage.isWhole, lines.join("\n"));
    await kind.use(home, damage, lines);
  } catch (error) {
    throw new Error(`${damage.name}: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}

async function eachDamage(kind: Kind, home: Home): Promise<void> {
  const { files } = home;
  const path = kind.path(home);
  const afresh = async (): Promise<void> => {
    await files.remove(home.paths.root, { recursive: true });
    await files.makeDirectory(home.paths.root);
    await kind.write(home);
  };
  await afresh();
  const whole = await files.readText(path) ?? "";
  const from = kind.lastRecord?.(whole) ?? 0;
  const isText = !whole.includes("\0");
  for (let length = from; isText && length <= whole.length; length++) {
    await afresh();
    const written = await files.readText(path) ?? "";
    await files.writeText(path, written.slice(0, length));
    const isWhole = length >= written.trimEnd().length;
    await check(home, kind, { name: `cut at ${length} of ${written.length}`, isCut: true, isWhole });
  }
  for (const [name, text] of Object.entries(JUNK)) {
    await afresh();
    await files.writeText(path, text);
    await check(home, kind, { name, isCut: false, isWhole: false });
  }
  await afresh();
  await files.remove(path);
  await files.makeDirectory(path);
  await check(home, kind, { name: "a folder", isCut: false, isWhole: false });
}

const FILE_CASES = Object.entries(KINDS).map(([name, kind]): Case => ({
  name:
    `${name} cut at each byte and replaced by junk: the program starts, names it and loses nothing else [fault-files]`,
  run: async (runtime, directory) => await eachDamage(kind, await makeHome(runtime, directory)),
}));

/** Bytes between two cuts of the write-ahead log; its frames have 4,120. */
const CUT_STRIDE = 103;

async function writeBytes(files: Files, path: string, bytes: Uint8Array): Promise<void> {
  await files.writeText(path, "");
  const file = await files.openAppend(path);
  await file.append(bytes);
  file.close();
}

/** Returns the store's files as a killed relay leaves them, after push 1 and after push 2. */
async function killedRelay(
  { files, data }: Home,
): Promise<{ database: Uint8Array; before: number; log: Uint8Array }> {
  const bytesOf = async (name: string): Promise<Uint8Array> =>
    await files.readBytes(`${data}/${name}`) ?? new Uint8Array();
  const store = await openStore(data);
  await store.insertKey(aKey(1));
  await store.insertPush(aPush(1));
  const before = (await bytesOf("relay.db-wal")).length;
  await store.insertPush(aPush(2));
  const [database, log] = [await bytesOf("relay.db"), await bytesOf("relay.db-wal")];
  await store.close();
  return { database, before, log };
}

const STORE_CASES: readonly Case[] = [
  {
    name: "a write-ahead log cut in its last transaction keeps everything before it [fault-files]",
    async run(runtime, directory) {
      const home = await makeHome(runtime, directory);
      const { database, before, log } = await killedRelay(home);
      const cuts = Array.from(
        { length: Math.ceil((log.length - before) / CUT_STRIDE) },
        (_, n) => before + n * CUT_STRIDE,
      );
      for (const cut of [...cuts, log.length - 1, log.length]) {
        await home.files.remove(home.data, { recursive: true });
        await home.files.makeDirectory(home.data);
        await writeBytes(home.files, `${home.data}/relay.db`, database);
        await writeBytes(home.files, `${home.data}/relay.db-wal`, log.subarray(0, cut));
        await hasPush(home.data, 1);
        if (cut === log.length) await hasPush(home.data, 2);
      }
    },
  },
  {
    name:
      "a truncated database is refused with what to do; junk next to a closed one is harmless [fault-files]",
    async run(runtime, directory) {
      const home = await makeHome(runtime, directory);
      await killedRelay(home);
      const path = `${home.data}/relay.db`;
      const whole = await home.files.readBytes(path) ?? new Uint8Array();
      for (const cut of [whole.length - 1, whole.length - 512, whole.length - 4_096, 4_096, 100, 1]) {
        await writeBytes(home.files, path, whole.subarray(0, cut));
        await saysWhy(path, () => openStore(home.data));
      }
      for (const junk of Object.values(JUNK)) {
        await writeBytes(home.files, path, whole);
        for (const name of ["relay.db-wal", "relay.db-shm"]) {
          await home.files.writeText(`${home.data}/${name}`, junk);
        }
        await hasPush(home.data, 2);
      }
    },
  },
];

export const cases: readonly Case[] = [...FILE_CASES, ...STORE_CASES];
