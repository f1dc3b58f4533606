/** `svc keys`: API keys of a relay on this machine, created, listed and revoked in its store. */
import { type Scope, SCOPES } from "../protocol/http.ts";
import { DeviceId } from "../protocol/push.ts";
import type { Role } from "../protocol/frames.ts";
import { createKey, DEFAULT_ACCOUNT, roleOfDevice } from "../relay/api_keys.ts";
import { shellLine } from "../runtime/system.ts";
import { hasStore, openRelayStore } from "../store/open.ts";
import type { KeyRecord, Store } from "../store/store.ts";
import { collect, defineCommand, parseOptions, runSubcommand } from "./command.ts";
import { dataDirectory } from "./settings.ts";
import { columns, EXIT_FAILED, print, printError, printJson, UsageError } from "./output.ts";

const ACCOUNT_FORM = /^[A-Za-z0-9_.-]{1,64}$/;
const DATA_HELP = "the relay's folder (default: server in ~/.svc)";

export async function run(args: readonly string[]): Promise<number> {
  return await runSubcommand(args, {
    name: "keys",
    summary:
      "Create, list and revoke the API keys of a relay on this machine: svc keys create | list | revoke.",
    examples: [
      "svc keys create --name laptop --scope push:read,push:send",
      "svc keys list",
      "svc keys revoke key_1a2b3c4d5e6f",
    ],
    subcommands: { create, list, revoke },
  });
}

interface CreateOptions {
  name: string;
  scope: string[];
  account: string;
  role?: string | undefined;
  device?: string | undefined;
  data?: string | undefined;
  json?: true | undefined;
}

async function create(args: readonly string[]): Promise<number> {
  const command = defineCommand({
    name: "keys create",
    summary: "Create an API key. It is shown only once: the relay keeps just its hash.",
    examples: [
      "svc keys create --name laptop --scope push:read,push:send",
      "svc keys create --name ci --scope push:send,push:read --role script",
      "svc keys create --name ops --scope admin --json",
    ],
  })
    .requiredOption("--name <name>", "what it is for, shown in lists")
    .requiredOption(
      "--scope <scopes>",
      `one or more of ${SCOPES.join(", ")}, separated by commas; can be repeated`,
      collect,
    )
    .option("--account <account>", "the account whose sessions and pushes it reaches", DEFAULT_ACCOUNT)
    .option("--role <role>", "what may connect with it: listener or script (default: either)")
    .option("--device <id>", "the only device that may connect with it, such as dev_listener_1a2b3c4d")
    .option("--data <dir>", DATA_HELP)
    .option("--json", "print id, name, scopes and key as JSON");
  const options: CreateOptions = parseOptions(command, args).opts();
  const wanted = {
    name: options.name,
    scopes: scopesOf(options),
    account: accountOf(options),
    role: roleOf(options),
    deviceId: deviceOf(options),
  };
  const created = await withStore(options, (store) => createKey(store, wanted));
  if (options.json) printJson(created);
  else {
    // Alone on stdout, for SVC_API_KEY=$(svc keys create …).
    print(created.key);
    printError(`The key is stored nowhere else: keep it now. To revoke it, use its id: ${created.id}`);
  }
  return 0;
}

async function list(args: readonly string[]): Promise<number> {
  const command = defineCommand({
    name: "keys list",
    summary: "List the keys by id and name. The keys themselves are not stored.",
    examples: ["svc keys list", "svc keys list --account work --json"],
  })
    .option("--account <account>", "only of this account")
    .option("--data <dir>", DATA_HELP)
    .option("--json", "print a JSON array");
  const options: { account?: string; data?: string; json?: true } = parseOptions(command, args).opts();
  await checkData(options);
  // Opening a store creates it: where no relay has run there are no keys.
  const keys = await hasStore(await dataDirectory(options))
    ? await withStore(options, (store) => store.listKeys(options.account))
    : [];
  if (options.json) printJson(keys.map(({ hash: _hash, ...shown }) => shown));
  else if (keys.length === 0) {
    const account = options.account === undefined ? [] : ["--account", options.account];
    const make = ["svc", "keys", "create", "--name", "laptop", "--scope", "push:read,push:send", ...account];
    print(`No keys yet. Create one: ${shellLine(make)}`);
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
      "Revoke a key and what was paired with it: a running relay refuses them immediately and closes their sockets within a second.",
    examples: ["svc keys revoke key_1a2b3c4d5e6f", "svc keys revoke key_1a2b3c4d5e6f --only"],
  })
    .argument("<id>", "the key's id, as in svc keys list")
    .option("--only", "keep the phones that were paired with it working")
    .option("--data <dir>", DATA_HELP);
  const parsed = parseOptions(command, args);
  const [id] = parsed.processedArgs;
  const { only, ...at }: { only?: true; data?: string } = parsed.opts();
  await checkData(at);
  const revoked = await hasStore(await dataDirectory(at))
    ? await withStore(at, (store) => store.revokeKey(id, Date.now(), { only: only === true }))
    : [];
  const [, ...others] = revoked;
  if (revoked.length === 0) {
    printError(`Cannot revoke "${id}": no working key has this id. See: svc keys list`);
    return EXIT_FAILED;
  }
  print(`Revoked ${id}`);
  if (others.length > 0) print(`Also revoked, because they were paired with it: ${others.join(", ")}`);
  return 0;
}

/** Throws Error for a folder without a store: a mistyped one would become an empty store without keys. */
export async function checkData({ data }: { data?: string | undefined }): Promise<void> {
  if (data === undefined || await hasStore(data)) return;
  throw new Error(
    `Cannot use "${data}": no relay has kept anything there. Name the folder of svc server --data.`,
  );
}

async function withStore<T>(
  options: { data?: string | undefined },
  work: (store: Store) => Promise<T>,
): Promise<T> {
  const store = await openRelayStore(await dataDirectory(options));
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

function scopesOf({ scope }: CreateOptions): Scope[] {
  const list = scope.join(",");
  const options = list.split(",").map((word) => word.trim()).filter((word) => word !== "");
  const scopes = SCOPES.filter((known) => options.includes(known));
  const unknown = options.find((word) => !SCOPES.some((known) => known === word));
  if (unknown === undefined && scopes.length > 0) return scopes;
  throw new UsageError(
    `Cannot give the scope "${unknown ?? list}": --scope takes ${SCOPES.join(", ")}, separated by commas.`,
  );
}

function accountOf({ account }: CreateOptions): string {
  if (ACCOUNT_FORM.test(account)) return account;
  throw new UsageError(
    `Cannot use the account "${account}": an account has 1 to 64 characters from A-Z a-z 0-9 . _ -`,
  );
}

function roleOf({ role, device }: CreateOptions): Role | undefined {
  const known = (["listener", "script"] as const).find((one) => one === role);
  const ofDevice = roleOfDevice(device);
  const fits = known === undefined || ofDevice === undefined || ofDevice === known;
  if (fits && (role === undefined || known !== undefined)) return known;
  throw new UsageError(
    `Cannot make a key for the role "${role}"${
      device === undefined ? "" : ` and the device "${device}"`
    }: --role takes listener or script and must match the device's id; phones get their keys from svc pair.`,
  );
}

function deviceOf({ device }: CreateOptions): string | undefined {
  if (device === undefined || DeviceId.safeParse(device).success) return device;
  throw new UsageError(`Cannot bind the key to "${device}": a device's id starts with dev_`);
}
