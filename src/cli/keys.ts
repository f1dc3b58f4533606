/** `svc keys`: API keys of a relay on this machine, created, listed and revoked in its store. */
import { type Scope, SCOPES } from "../protocol/http.ts";
import { DeviceId } from "../protocol/push.ts";
import type { Role } from "../protocol/frames.ts";
import { createKey, DEFAULT_ACCOUNT, roleOfDevice } from "../relay/api_keys.ts";
import { openStore } from "../store/sqlite.ts";
import type { KeyRecord, Store } from "../store/store.ts";
import { defineCommand, parseOptions } from "./command.ts";
import { dataDirectory } from "./relay_options.ts";
import { EXIT_FAILED, UsageError } from "./exit.ts";
import { columns, print, printError, printJson } from "./output.ts";

const ACCOUNT_FORM = /^[A-Za-z0-9_.-]{1,64}$/;
const DATA_HELP = "the relay's folder (default: server in ~/.svc)";

export async function run(args: readonly string[]): Promise<number> {
  const [word, ...rest] = args;
  switch (word) {
    case "create":
      return await create(rest);
    case "list":
      return await list(rest);
    case "revoke":
      return await revoke(rest);
    default:
      return overview(args);
  }
}

/** The help, or what is wrong with the first word. */
function overview(args: readonly string[]): number {
  const command = defineCommand({
    name: "keys",
    summary:
      "Create, list and revoke the API keys of a relay on this machine: svc keys create | list | revoke.",
    examples: [
      "svc keys create --name laptop --scope push:read,push:send",
      "svc keys list",
      "svc keys revoke key_1a2b3c4d5e6f",
    ],
  });
  parseOptions(command, args.filter((word) => word.startsWith("-")));
  throw new UsageError(
    `Cannot use "${["svc keys", ...args].join(" ")}": it takes create, list or revoke. See: svc keys --help`,
  );
}

interface CreateWords {
  name: string;
  scope: string;
  account: string;
  role?: string | undefined;
  device?: string | undefined;
  data?: string | undefined;
  json?: true | undefined;
}

async function create(args: readonly string[]): Promise<number> {
  const command = defineCommand({
    name: "keys create",
    summary: "Create an API key. It is shown this once: the relay keeps only its hash.",
    examples: [
      "svc keys create --name laptop --scope push:read,push:send",
      "svc keys create --name ci --scope push:send,push:read --role script",
      "svc keys create --name ops --scope admin --json",
    ],
  })
    .requiredOption("--name <name>", "what it is for, as lists show it")
    .requiredOption("--scope <scopes>", `one or more of ${SCOPES.join(", ")}, with commas`)
    .option("--account <account>", "whose sessions and pushes it reaches", DEFAULT_ACCOUNT)
    .option("--role <role>", "what may connect with it: listener or script (default: any)")
    .option("--device <id>", "the one device that may connect with it, such as dev_listener_1a2b3c4d")
    .option("--data <dir>", DATA_HELP)
    .option("--json", "print id, name, scopes and key as JSON");
  const words: CreateWords = parseOptions(command, args).opts();
  const wanted = {
    name: words.name,
    scopes: scopesOf(words),
    account: accountOf(words),
    role: roleOf(words),
    deviceId: deviceOf(words),
  };
  const created = await withStore(words, (store) => createKey(store, wanted));
  if (words.json) printJson(created);
  else print(`${created.key}\n\nKept nowhere else: store it now. Its id, to revoke it: ${created.id}`);
  return 0;
}

async function list(args: readonly string[]): Promise<number> {
  const command = defineCommand({
    name: "keys list",
    summary: "List the keys: never the keys themselves, which nobody has but their owners.",
    examples: ["svc keys list", "svc keys list --account work --json"],
  })
    .option("--account <account>", "of this account only")
    .option("--data <dir>", DATA_HELP)
    .option("--json", "print a JSON array");
  const words: { account?: string; data?: string; json?: true } = parseOptions(command, args).opts();
  const keys = await withStore(words, (store) => store.listKeys(words.account));
  if (words.json) printJson(keys.map(({ hash: _hash, ...shown }) => shown));
  else if (keys.length === 0) {
    print("No keys yet. Create one: svc keys create --name laptop --scope push:read,push:send");
  } else for (const line of columns([HEADING, ...keys.map(row)])) print(line);
  return 0;
}

const HEADING = ["ID", "ACCOUNT", "SCOPES", "ROLE", "DEVICE", "CREATED", "STATE", "NAME"];

function row({ id, account, scopes, role, deviceId, createdAt, revokedAt, name }: KeyRecord): string[] {
  const created = new Date(createdAt).toISOString().slice(0, 10);
  return [
    id,
    account,
    scopes.join(","),
    role ?? "any",
    deviceId ?? "any",
    created,
    revokedAt === undefined ? "works" : "revoked",
    name,
  ];
}

async function revoke(args: readonly string[]): Promise<number> {
  const command = defineCommand({
    name: "keys revoke",
    summary:
      "Revoke a key and what was paired with it: a running relay refuses them from now on, and closes their sockets within a second.",
    examples: ["svc keys revoke key_1a2b3c4d5e6f", "svc keys revoke key_1a2b3c4d5e6f --only"],
  })
    .argument("<id>", "as svc keys list shows it")
    .option("--only", "leave the phones that were paired with it working")
    .option("--data <dir>", DATA_HELP);
  const parsed = parseOptions(command, args);
  const [id] = parsed.processedArgs;
  const { only, ...at }: { only?: true; data?: string } = parsed.opts();
  const revoked = await withStore(at, (store) => store.revokeKey(id, Date.now(), { only: only === true }));
  const [, ...others] = revoked;
  if (revoked.length === 0) {
    printError(`Cannot revoke "${id}": no working key has this id. See: svc keys list`);
    return EXIT_FAILED;
  }
  print(`Revoked ${id}`);
  if (others.length > 0) print(`With it what was paired with it: ${others.join(", ")}`);
  return 0;
}

async function withStore<T>(
  words: { data?: string | undefined },
  work: (store: Store) => Promise<T>,
): Promise<T> {
  const store = await openStore(await dataDirectory(words));
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

function scopesOf({ scope }: CreateWords): Scope[] {
  const words = scope.split(",").map((word) => word.trim()).filter((word) => word !== "");
  const scopes = SCOPES.filter((known) => words.includes(known));
  const unknown = words.find((word) => !SCOPES.some((known) => known === word));
  if (unknown === undefined && scopes.length > 0) return scopes;
  throw new UsageError(
    `Cannot give the scope "${unknown ?? scope}": --scope takes ${SCOPES.join(", ")}, with commas.`,
  );
}

function accountOf({ account }: CreateWords): string {
  if (ACCOUNT_FORM.test(account)) return account;
  throw new UsageError(`Cannot use the account "${account}": it has 1 to 64 characters of A-Z a-z 0-9 . _ -`);
}

function roleOf({ role, device }: CreateWords): Role | undefined {
  const known = (["listener", "script"] as const).find((one) => one === role);
  const ofDevice = roleOfDevice(device);
  const fits = known === undefined || ofDevice === undefined || ofDevice === known;
  if (fits && (role === undefined || known !== undefined)) return known;
  throw new UsageError(
    `Cannot make a key for the role "${role}"${
      device === undefined ? "" : ` and the device "${device}"`
    }: --role takes listener or script, as the device's id has it; phones get theirs by svc pair.`,
  );
}

function deviceOf({ device }: CreateWords): string | undefined {
  if (device === undefined || DeviceId.safeParse(device).success) return device;
  throw new UsageError(`Cannot bind the key to "${device}": a device's id begins with dev_`);
}
